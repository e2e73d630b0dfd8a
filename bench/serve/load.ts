/**
 * Sends requests to a server on some connections, each with one request under way, and prints the
 * result as JSON:
 *
 *   node bench/serve/load.ts PORT CONNECTIONS WARM-UP SECONDS PROCESS BODY
 *
 * PROCESS is the server's, whose processor time is read if the system reports it. Sockets are used
 * as they are: a client of HTTP would cost more than the server.
 */
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';

export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  /** Processor time of the server; undefined if the system does not report it. */
  readonly processor: number | undefined;
  /** Milliseconds. */
  readonly median: number;
  readonly slowest: number;
}

const [port, connections, warmUp, seconds, server] = process.argv.slice(2, 7).map(Number);
const body = process.argv[7];
const request = Buffer.from(
  'POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
);

/** Linux counts in hundredths of a second. */
function processorSeconds(): number | undefined {
  try {
    const fields = readFileSync(`/proc/${server}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return undefined;
  }
}

let latencies: number[] = [];

/** All answers have the same length, taken from the first one. */
function converse(): void {
  const socket = connect(port, '127.0.0.1');
  let length = 0;
  let received = 0;
  let sent = 0;
  const send = (): void => {
    sent = performance.now();
    socket.write(request);
  };
  socket.setNoDelay(true);
  socket.on('connect', send);
  socket.on('data', (chunk: Buffer) => {
    if (length === 0) length = answerLength(chunk);
    received += chunk.length;
    if (received < length) return;
    received = 0;
    latencies.push(performance.now() - sent);
    send();
  });
}

function answerLength(chunk: Buffer): number {
  const text = chunk.toString('latin1');
  const head = text.indexOf('\r\n\r\n') + 4;
  const found = /^HTTP\/1\.1 200 [\s\S]*?\r\nContent-Length: (\d+)\r\n/i.exec(text);
  if (found === null || head < 4) throw new Error(`no answer: ${text}`);
  return head + Number(found[1]);
}

for (let count = 0; count < connections; count++) converse();
setTimeout(() => {
  latencies = [];
  const processor = processorSeconds();
  const start = performance.now();
  setTimeout(() => {
    const elapsed = (performance.now() - start) / 1000;
    const used = processorSeconds();
    const sorted = Float64Array.from(latencies).sort();
    const result: LoadResult = {
      requests: sorted.length,
      seconds: elapsed,
      processor: used === undefined || processor === undefined ? undefined : used - processor,
      median: sorted[Math.floor(0.5 * sorted.length)],
      slowest: sorted[Math.floor(0.99 * sorted.length)],
    };
    process.stdout.write(JSON.stringify(result), () => process.exit());
  }, 1000 * seconds);
}, 1000 * warmUp);
