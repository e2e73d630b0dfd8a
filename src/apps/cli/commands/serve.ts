import { isIP } from 'node:net';
import { basename } from 'node:path';
import { DsoError, UsageError } from '../../../errors.ts';
import { formatPercentUp, plural } from '../../../reporting/format.ts';
import { HostNames, isLoopback } from '../../host-header.ts';
import { Metrics } from '../../serve/metrics.ts';
import { type LoadedModel, ModelReloader } from '../../serve/model-reloader.ts';
import { exampleRow } from '../../serve/scorer.ts';
import { type RequestRecord, ScoringServer } from '../../serve/server.ts';
import type { Action } from '../command.ts';
import { standardStream } from '../files.ts';
import { stopSignal } from '../interrupts.ts';
import type { ServeFlags } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** Milliseconds between two checks of the model file. */
const watchInterval = 1000;
/** Characters of an answer to a batch. */
const longestAnswer = 2 ** 26;
/** The bodies in memory at a time, in bodies of the greatest size. */
const bodiesAtOnce = 8;

export const serveCommand: Action<ServeFlags> = async ({ flags, terminal }, path) => {
  if (path === standardStream) {
    throw new UsageError('serve - : a model that is served has to be a file');
  }
  const { maxBody, maxRows, timeout } = flags;
  const name = basename(path);
  const journal = createJournal(terminal, flags.log ?? false);
  const metrics = new Metrics();
  const reloader = await ModelReloader.open(path, {
    strict: flags.strict ?? false,
    onLoad(loaded) {
      metrics.loads++;
      if (metrics.loads > 1) journal.note('reload', `${name}: ${describe(loaded)} takes over`);
    },
    onFailure(message) {
      metrics.failedLoads++;
      journal.note('reload-failed', `${message}; the model before it stays`);
    },
  });
  const server = new ScoringServer({
    name,
    limits: {
      bytes: maxBody,
      bodies: bodiesAtOnce * maxBody,
      timeout,
      rows: maxRows,
      answer: longestAnswer,
    },
    hosts: new HostNames(flags.host, flags.hostName),
    metrics,
    current: () => reloader.current,
    ...(flags.log && { onRequest: (record) => journal.request(record) }),
    onFailure: (error) => journal.failure(error),
  });
  const url = await listen(server, flags);
  if (flags.reload) reloader.watch(watchInterval);
  const reload = (): void => void reloader.reload();
  process.on('SIGHUP', reload);
  const stopped = stopSignal(terminal);
  await announce(name, url, reloader.current, flags, terminal);
  await stopped;
  reloader.close();
  const cut = await server.stop();
  process.off('SIGHUP', reload);
  if (cut > 0) journal.note('stop', `${plural(cut, 'request')} cut off after the --timeout`);
};

async function listen(server: ScoringServer, { port, host }: ServeFlags): Promise<string> {
  try {
    const address = await server.listen(port, host);
    const shown = isIP(host) === 6 ? `[${host}]` : host;
    return `http://${shown}:${address.port}`;
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    const reason = listenErrors[code ?? ''] ?? message;
    throw new DsoError('failure', `--host ${host} --port ${port}: ${reason}`, { cause });
  }
}

const listenErrors: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use; choose another one, or 0 for any',
  EACCES: 'no permission to listen there; ports below 1024 are for the administrator',
  EADDRNOTAVAIL: 'this machine has no such address',
  ENOTFOUND: 'there is no such host',
};

async function announce(
  name: string,
  url: string,
  loaded: LoadedModel,
  { host }: ServeFlags,
  terminal: Terminal,
): Promise<void> {
  if (!isLoopback(host)) {
    terminal.warn(
      `anyone who reaches ${host} can send requests: there is no ` +
        'authentication, and no encryption. Put a proxy in front of it.',
    );
  }
  const example = exampleRow(loaded).replaceAll("'", `'\\''`);
  await terminal.print(
    `${name} at ${url}; try: curl -H 'Content-Type: application/json' ` +
      `-d '${example}' ${url}/predict\n`,
  );
}

function describe({ model, version }: LoadedModel): string {
  const { classes, columns, certificate } = model;
  const kind = classes ? `classes: ${classes.length}` : model.task;
  const gap = formatPercentUp(certificate.relativeGap);
  return `version ${version} (${kind}, ${plural(columns, 'column')}, gap ${gap})`;
}

/** What an operator reads, on standard error: lines of text, or with --log all of it as JSON. */
function createJournal(terminal: Terminal, json: boolean) {
  const line = (content: object) =>
    terminal.say(JSON.stringify({ time: new Date().toISOString(), ...content }));
  const note = (event: string, message: string, say = (text: string) => terminal.say(text)) =>
    json ? line({ event, message }) : say(message);
  return {
    request(record: RequestRecord): void {
      const milliseconds = Number(record.milliseconds.toFixed(3));
      line({ event: 'request', ...record, milliseconds });
    },
    note,
    failure(error: unknown): void {
      const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
      note('failure', message, (text) => terminal.error(text));
    },
  };
}
