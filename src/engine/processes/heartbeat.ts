import type { MpiLibrary } from './mpi-library.ts';
import { type Owner, Requests, sharedBytes, tags } from './requests.ts';

/** Above so many ranks not everybody listens to everybody. */
const smallJob = 32;
const longestInterval = 1000;
const longestLook = 50;

/** Anything else is a sign of life: 1 + the sender's steps, of which a byte holds only the rest. */
const goodbye = 0;
const circle = 255;

interface Peer {
  readonly rank: number;
  readonly incoming: Uint8Array;
  readonly outgoing: Uint8Array;
  /** When it was last heard, in milliseconds. */
  heard: number;
  /** Whether a message to it is under way, and whether goodbye has been said by either side. */
  sending: boolean;
  left: boolean;
  told: boolean;
  lost: boolean;
}

/** To whom a rank shows that it is alive: all others, or in a large job neighbours and rank 0. */
export function listeners(rank: number, size: number): number[] {
  const others = Array.from({ length: size }, (_, other) => other).filter((k) => k !== rank);
  if (size <= smallJob || rank === 0) return others;
  const near = [0, (rank + 1) % size, (rank + size - 1) % size];
  return others.filter((other) => near.includes(other));
}

/**
 * Signs of life. A cut cable or a stopped process raises no error anywhere: only the lack of
 * messages tells. Each rank speaks for itself, whether or not its threads wait for others, so that
 * the one that has fallen silent is known and not just somebody who waits for it.
 */
export class Heartbeat implements Owner {
  /** The first rank that has fallen silent. */
  lost: number | undefined;
  /** What this rank has begun to do together with the others, counted. */
  steps = 0;
  /** Called while rank 0, by what is heard of it, has begun more than this rank. */
  onRankZeroAhead: () => void = () => {};
  readonly #peers: readonly Peer[];
  readonly #requests: Requests;
  readonly #timeout: number;
  readonly #interval: number;
  readonly #onLost: (rank: number) => void;
  #leaving = false;
  #now: number;
  #nextLook = 0;
  #nextBeat = 0;

  /** `timeout`: seconds of silence after which a rank counts as lost. */
  constructor(
    mpi: MpiLibrary,
    ranks: { rank: number; size: number },
    timeout: number,
    onLost: (rank: number) => void,
  ) {
    this.#requests = new Requests(mpi);
    this.#timeout = 1000 * timeout;
    this.#interval = Math.min(longestInterval, this.#timeout / 4);
    this.#onLost = onLost;
    this.#now = performance.now();
    this.#peers = listeners(ranks.rank, ranks.size).map((rank) => ({
      rank,
      incoming: sharedBytes(1),
      outgoing: sharedBytes(1),
      heard: this.#now,
      sending: false,
      left: false,
      told: false,
      lost: false,
    }));
    for (const [index, peer] of this.#peers.entries()) this.#listen(peer, index);
  }

  /** Whether everybody has said goodbye to everybody. */
  get parted(): boolean {
    return this.#peers.every(({ left, told, sending }) => left && told && !sending);
  }

  /** From now on it says goodbye instead of showing life. */
  leave(): void {
    this.#leaving = true;
    this.#nextBeat = 0;
  }

  /** To be called often; does something now and then. */
  poll(now: number): void {
    if (now < this.#nextLook && !this.#leaving) return;
    const pause = now - this.#now;
    // Whoever has not listened for so long cannot say that others were silent.
    if (pause > this.#interval) for (const peer of this.#peers) peer.heard += pause;
    this.#now = now;
    this.#nextLook = now + Math.min(longestLook, this.#interval / 4);
    while (this.#requests.poll());
    if (now >= this.#nextBeat) {
      this.#nextBeat = this.#leaving ? now : now + this.#interval;
      this.#speak();
    }
    for (const peer of this.#peers) {
      if (peer.left || peer.lost || now - peer.heard <= this.#timeout) continue;
      peer.lost = true;
      this.lost ??= peer.rank;
      this.#onLost(peer.rank);
    }
  }

  /** Tickets are 2k for what peer k sends and 2k+1 for what goes to it. */
  completed(ticket: number): void {
    const index = ticket >> 1;
    const peer = this.#peers[index];
    if (ticket % 2 === 1) {
      peer.sending = false;
      return;
    }
    peer.heard = this.#now;
    const said = peer.incoming[0];
    if (peer.rank === 0 && this.#isBehind(said)) this.onRankZeroAhead();
    if (said === goodbye) peer.left = true;
    else this.#listen(peer, index);
  }

  #isBehind(said: number): boolean {
    const lead = (said - 1 - (this.steps % circle) + circle) % circle;
    return said === goodbye || (lead > 0 && lead < circle / 2);
  }

  #listen(peer: Peer, index: number): void {
    this.#requests.receive(peer.incoming, peer.rank, tags.heartbeat, this, 2 * index);
  }

  #speak(): void {
    this.#peers.forEach((peer, index) => {
      // To somebody who does not take what was sent, nothing more is sent.
      if (peer.sending || peer.told) return;
      peer.outgoing[0] = this.#leaving ? goodbye : 1 + (this.steps % circle);
      peer.told = this.#leaving;
      peer.sending = true;
      this.#requests.send(peer.outgoing, peer.rank, tags.heartbeat, this, 2 * index + 1);
    });
  }
}
