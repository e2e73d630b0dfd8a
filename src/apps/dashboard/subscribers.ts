import type { StreamEvents } from './api.ts';

/** Bytes that wait for a page before it counts as not reading. */
const room = 256 * 1024;

const encoder = new TextEncoder();

export interface Message {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The run that a page would be wrong about without this message. */
  readonly concerns?: string;
}

/** An event in the form of the stream; JSON has no line ends of its own. */
export function messageOf<Name extends keyof StreamEvents>(
  name: Name,
  data: StreamEvents[Name],
): Message {
  const bytes = encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  // Where blocks are and what is being read is old news by the time there is room again.
  if (name === 'look' || name === 'stage' || name === 'bye') return { bytes };
  return { bytes, concerns: (data as { readonly id: string }).id };
}

/**
 * The events for one page. A page that does not read gets no further messages, so that they do not
 * pile up here; which runs they were about is remembered until it reads again.
 */
export class EventStream {
  readonly body: ReadableStream<Uint8Array<ArrayBuffer>>;
  #controller: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>> | undefined;
  readonly #missed = new Set<string>();

  /** `onReading` gets the runs that messages were left out of, `onEnd` comes when the page has left. */
  constructor(onReading: (runs: readonly string[]) => void, onEnd: () => void) {
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
          // A page whose connection broke tries again after so many milliseconds.
          controller.enqueue(encoder.encode('retry: 2000\n\n'));
        },
        pull: () => {
          if (this.#missed.size === 0) return;
          const missed = [...this.#missed];
          this.#missed.clear();
          onReading(missed);
        },
        cancel: () => {
          this.#controller = undefined;
          onEnd();
        },
      },
      { highWaterMark: room, size: (chunk) => chunk.byteLength },
    );
  }

  send({ bytes, concerns }: Message): void {
    if (this.#controller === undefined) return;
    if (this.#controller.desiredSize! > 0) this.#controller.enqueue(bytes);
    else if (concerns !== undefined) this.#missed.add(concerns);
  }

  /** Ends after the messages that are under way, and this one if the page reads. */
  end(last: Message): void {
    this.send(last);
    this.#controller?.close();
    this.#controller = undefined;
  }
}
