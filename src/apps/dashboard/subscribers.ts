import type { StreamEvents } from './api.ts';
import type { RunFeed } from './feeds.ts';

/** Bytes that may wait for a page before messages are left out. */
const room = 256 * 1024;

const encoder = new TextEncoder();

type Bytes = Uint8Array<ArrayBuffer>;

interface Message {
  readonly bytes: Bytes;
  /** The run about which a page would be wrong without this message. */
  readonly concerns?: string;
}

/** Sends an event. */
export type Emit = <Name extends keyof StreamEvents>(name: Name, data: StreamEvents[Name]) => void;

/** An event in the form of the stream; JSON has no line ends of its own. */
export function messageOf<Name extends keyof StreamEvents>(
  name: Name,
  data: StreamEvents[Name],
): Message {
  const bytes = encoder.encode(`event: ${name}\ndata: ${JSON.stringify(data)}\n\n`);
  // Positions of blocks and stages are outdated by the time there is room again.
  if (name === 'look' || name === 'stage' || name === 'bye') return { bytes };
  return { bytes, concerns: (data as { readonly id: string }).id };
}

/**
 * The events for one page. A page that does not read gets no further messages, so that they do not
 * pile up; the runs they were about are remembered until it reads again.
 */
export class EventStream {
  readonly body: ReadableStream<Bytes>;
  #controller: ReadableStreamDefaultController<Bytes> | undefined;
  readonly #missed = new Set<string>();

  /** `onReading` gets the runs whose messages were left out; `onEnd` is called when the page closes. */
  constructor(onReading: (runs: readonly string[]) => void, onEnd: () => void) {
    this.body = new ReadableStream(
      {
        start: (controller) => {
          this.#controller = controller;
          // A page whose connection broke tries again after 2 seconds.
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

  /** Ends after the messages under way, and this one if the page reads. */
  end(last: Message): void {
    this.send(last);
    this.#controller?.close();
    this.#controller = undefined;
  }
}

/** Pages that may be open at the same time. */
const mostStreams = 32;

/** The pages that receive events; the feed works while there are any. */
export class Subscribers {
  readonly #feed: RunFeed;
  readonly #streams = new Set<EventStream>();

  constructor(feed: RunFeed) {
    this.#feed = feed;
  }

  /** Undefined when there are too many already. */
  join(): EventStream | undefined {
    if (this.#streams.size >= mostStreams) return undefined;
    const send: Emit = (name, data) => stream.send(messageOf(name, data));
    const stream = new EventStream(
      (missed) => {
        for (const id of missed) this.#feed.refresh(id, send);
      },
      () => this.#leave(stream),
    );
    this.#streams.add(stream);
    if (this.#streams.size === 1) this.#feed.start();
    this.#feed.sendCurrent(send);
    return stream;
  }

  readonly emit: Emit = (name, data) => {
    if (this.#streams.size === 0) return;
    const message = messageOf(name, data);
    for (const stream of this.#streams) stream.send(message);
  };

  end(reason: string): void {
    const last = messageOf('bye', { reason });
    for (const stream of this.#streams) {
      stream.end(last);
      this.#leave(stream);
    }
  }

  #leave(stream: EventStream): void {
    if (this.#streams.delete(stream) && this.#streams.size === 0) this.#feed.stop();
  }
}
