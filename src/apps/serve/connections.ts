import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Milliseconds for a client to close a connection that the server has ended. */
const lingerMilliseconds = 2000;

/** The open connections of a server, and how they end: none is reset. */
export class Connections {
  /** The bytes that a connection had brought when its last request was answered. */
  readonly #seen = new Map<Socket, number>();
  /** The answer to the last request of a connection. */
  readonly #latest = new WeakMap<Socket, ServerResponse>();

  /** `onChange` is told the number of connections. */
  add(socket: Socket, onChange: (count: number) => void): void {
    this.#seen.set(socket, 0);
    onChange(this.#seen.size);
    socket.once('close', () => {
      this.#seen.delete(socket);
      onChange(this.#seen.size);
    });
  }

  /** A request has begun that this will answer. */
  begin(socket: Socket, response: ServerResponse): void {
    this.#latest.set(socket, response);
  }

  /** A request has been answered. */
  settle(socket: Socket): void {
    this.#seen.set(socket, socket.bytesRead);
  }

  /** Ends the connections on which no request has begun, also those without a single byte. */
  endIdle(busy: ReadonlySet<Socket>): void {
    for (const [socket, seen] of this.#seen) {
      if (socket.bytesRead === seen && !busy.has(socket)) this.#end(socket);
    }
  }

  /** Ends a connection once what was asked on it is answered; false if nothing is left to answer. */
  endAfterAnswers(socket: Socket): boolean {
    const last = this.#latest.get(socket);
    if (last === undefined || last.writableFinished || last.destroyed) return false;
    // Of several answers that wait for their turn, an earlier one must not be the last.
    last.shouldKeepAlive = false;
    last.once('finish', () => this.#end(socket));
    return true;
  }

  /**
   * Ends a connection for writing and still reads from it until the client closes it: a request that
   * crosses the end on its way would otherwise make the system reset the connection.
   */
  #end(socket: Socket): void {
    if (socket.writableEnded) return;
    socket.end(() => {
      const timer = setTimeout(() => socket.destroy(), lingerMilliseconds);
      socket.once('close', () => clearTimeout(timer));
    });
  }
}
