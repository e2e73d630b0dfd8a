import type { MpiLibrary } from './mpi-library.ts';
import { type Owner, Requests, sharedBytes, tags } from './requests.ts';

/** Up to this many ranks everybody listens to everybody. */
const smallJob = 32;
/** Milliseconds at most between two heartbeats, and between two polls. */
const longestInterval = 1000;
const longestPause = 50;

/** Announces the end of a rank. Any other byte is a heartbeat: 1 + the sender's steps mod 255. */
const endSignal = 0;
const stepModulus = 255;

class Peer {
  readonly rank: number;
  readonly incoming = sharedBytes(1);
  readonly outgoing = sharedBytes(1);
  /** When it was last heard, in milliseconds. */
  heard: number;
  sending = false;
  /** Whether it has announced its end, and whether this rank has, to it. */
  endReceived = false;
  endSent = false;
  lost = false;

  constructor(rank: number, now: number) {
    this.rank = rank;
    this.heard = now;
  }
}

/** Who gets a rank's heartbeats: all others, or in a large job its neighbours and rank 0. */
export function listeners(rank: number, size: number): number[] {
  const others = Array.from({ length: size }, (_, other) => other).filter((k) => k !== rank);
  if (size <= smallJob || rank === 0) return others;
  const near = [0, (rank + 1) % size, (rank + size - 1) % size];
  return others.filter((other) => near.includes(other));
}

/**
 * A cut cable or a stopped process raises no error anywhere: only messages stop coming. Each rank
 * sends heartbeats whether or not its threads wait for others, so the lost rank is known, and not
 * just one that waits for it.
 */
export class Heartbeat implements Owner {
  /** The first rank that has fallen silent. */
  lost: number | undefined;
  /** Number of joint operations that this rank has begun. */
  steps = 0;
  /** Called while rank 0, by its heartbeats, has begun more than this rank. */
  onRankZeroAhead: () => void = () => {};
  readonly #peers: readonly Peer[];
  readonly #requests: Requests;
  readonly #timeout: number;
  readonly #interval: number;
  readonly #onLost: (rank: number) => void;
  #ending = false;
  #now: number;
  #nextPoll = 0;
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
    this.#peers = listeners(ranks.rank, ranks.size).map((rank) => new Peer(rank, this.#now));
    for (const [index, peer] of this.#peers.entries()) this.#listen(peer, index);
  }

  /** Whether all ranks have announced their end to each other. */
  get allEnded(): boolean {
    return this.#peers.every(
      ({ endReceived, endSent, sending }) => endReceived && endSent && !sending,
    );
  }

  /** From now on it sends the end signal instead of heartbeats. */
  announceEnd(): void {
    this.#ending = true;
    this.#nextBeat = 0;
  }

  /** To be called often; most calls return at once. */
  poll(now: number): void {
    if (now < this.#nextPoll && !this.#ending) return;
    const pause = now - this.#now;
    // A rank that has not listened for that long cannot say that others were silent.
    if (pause > this.#interval) for (const peer of this.#peers) peer.heard += pause;
    this.#now = now;
    this.#nextPoll = now + Math.min(longestPause, this.#interval / 4);
    while (this.#requests.poll());
    if (now >= this.#nextBeat) {
      this.#nextBeat = this.#ending ? now : now + this.#interval;
      this.#beat();
    }
    for (const peer of this.#peers) {
      if (peer.endReceived || peer.lost || now - peer.heard <= this.#timeout) continue;
      peer.lost = true;
      this.lost ??= peer.rank;
      this.#onLost(peer.rank);
    }
  }

  /** `id` is 2k for a message from peer k and 2k+1 for a message to it. */
  completed(id: number): void {
    const index = id >> 1;
    const peer = this.#peers[index];
    if (id % 2 === 1) {
      peer.sending = false;
      return;
    }
    peer.heard = this.#now;
    const signal = peer.incoming[0];
    if (peer.rank === 0 && this.#isBehind(signal)) this.onRankZeroAhead();
    if (signal === endSignal) peer.endReceived = true;
    else this.#listen(peer, index);
  }

  #isBehind(signal: number): boolean {
    const lead = (signal - 1 - (this.steps % stepModulus) + stepModulus) % stepModulus;
    return signal === endSignal || (lead > 0 && lead < stepModulus / 2);
  }

  #listen(peer: Peer, index: number): void {
    this.#requests.receive(peer.incoming, peer.rank, tags.heartbeat, this, 2 * index);
  }

  #beat(): void {
    this.#peers.forEach((peer, index) => {
      // A rank that does not take what was sent gets nothing more.
      if (peer.sending || peer.endSent) return;
      peer.outgoing[0] = this.#ending ? endSignal : 1 + (this.steps % stepModulus);
      peer.endSent = this.#ending;
      peer.sending = true;
      this.#requests.send(peer.outgoing, peer.rank, tags.heartbeat, this, 2 * index + 1);
    });
  }
}
