import type { StreamEvents } from '../apps/dashboard/api.ts';
import { EventStream, messageOf } from '../apps/dashboard/subscribers.ts';

/** Pages that may listen at the same time. */
const mostStreams = 32;

export interface AudienceListeners {
  /** The first page has come: somebody wants to know. */
  onFirst(): void;
  /** A page has come, the first one as well: what to tell it. */
  onJoin(tell: Audience['emit']): void;
  /** The last page has left. */
  onLast(): void;
  /** What to tell a page that has missed something of a run. */
  refresh(id: string, tell: Audience['emit']): void;
}

/** The pages that listen. */
export class Audience {
  readonly #listeners: AudienceListeners;
  readonly #streams = new Set<EventStream>();

  constructor(listeners: AudienceListeners) {
    this.#listeners = listeners;
  }

  /** undefined when there are too many already. */
  join(): EventStream | undefined {
    if (this.#streams.size >= mostStreams) return undefined;
    const tell: Audience['emit'] = (name, data) => stream.send(messageOf(name, data));
    const stream = new EventStream(
      (missed) => {
        for (const id of missed) this.#listeners.refresh(id, tell);
      },
      () => this.#leave(stream),
    );
    this.#streams.add(stream);
    if (this.#streams.size === 1) this.#listeners.onFirst();
    this.#listeners.onJoin(tell);
    return stream;
  }

  emit<Name extends keyof StreamEvents>(name: Name, data: StreamEvents[Name]): void {
    if (this.#streams.size === 0) return;
    const message = messageOf(name, data);
    for (const stream of this.#streams) stream.send(message);
  }

  end(reason: string): void {
    const last = messageOf('bye', { reason });
    for (const stream of this.#streams) {
      stream.end(last);
      this.#leave(stream);
    }
  }

  #leave(stream: EventStream): void {
    if (this.#streams.delete(stream) && this.#streams.size === 0) this.#listeners.onLast();
  }
}
