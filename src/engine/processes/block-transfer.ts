import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { tags } from '../../mpi/tags.ts';
import {
  announcedCargo,
  answered,
  asked,
  blocksTravel,
  type CargoList,
  rankOf,
  type Traffic,
  tally,
  waiting,
} from '../../parallel/traffic.ts';
import { tokenStride } from '../team.ts';
import { bytesOf, type Communicator, messagesOf } from './communicator.ts';
import type { Owner } from './requests.ts';

/** Milliseconds of sleep between looks while messages are under way, and while none is. */
const shortNap = 0.1;
const longNap = 5;
/** Milliseconds without an event after which it no longer spins. */
const patience = 1;

/** What a block takes along: its messages, by block. */
type Luggage = readonly (readonly Uint8Array[])[];

/** Blocks that go one way, counted since the run began; some may be under way. */
class Leg implements Owner {
  begun = 0;
  done = 0;
  /** Messages under way of the latest blocks, in turn. Never as many as there are blocks. */
  readonly #messages: Int32Array;

  constructor(blocks: number) {
    this.#messages = new Int32Array(blocks);
  }

  begin(messages: number): void {
    this.#messages[this.begun++ % this.#messages.length] = messages;
    this.#advance();
  }

  completed(index: number): void {
    this.#messages[index % this.#messages.length]--;
    this.#advance();
  }

  #advance(): void {
    while (this.done < this.begun && this.#messages[this.done % this.#messages.length] === 0) {
      this.done++;
    }
  }
}

/**
 * The network half of Algorithm 1. The process plays the workers first … end-1 of a ring of p.
 * Counted since the run began, block (first + k) mod p is sent on after worker `first` has made its
 * visit k, and block (end + k) mod p is received for visit k + 1 of worker end-1. Threads see in a
 * block's token, the count of its completed visits, that it has come.
 *
 * Beside blocks the carrier fetches what all processes have put into their outboxes.
 */
export class Carrier implements Owner {
  readonly #communicator: Communicator;
  readonly #traffic: Traffic;
  readonly #port: MessagePort;
  readonly #luggage: Luggage[] = [];
  readonly #outgoing: Leg;
  readonly #incoming: Leg;
  readonly #blocks: number;
  readonly #first: number;
  readonly #end: number;
  readonly #travel: boolean;
  readonly #downstream: number;
  readonly #upstream: number;
  readonly #outbox: Uint8Array;
  readonly #inbox: Uint8Array;
  #arrived = 0;
  #gathering = false;
  /** Whether a thread has been told in this step that its wait is over. */
  #hasWoken = false;

  constructor(communicator: Communicator, traffic: Traffic, port: MessagePort) {
    const { firsts, rank } = traffic;
    this.#communicator = communicator;
    this.#traffic = traffic;
    this.#port = port;
    this.#blocks = firsts[firsts.length - 1];
    this.#first = firsts[rank];
    this.#end = firsts[rank + 1];
    this.#travel = blocksTravel(traffic);
    this.#downstream = rankOf(traffic, (this.#first - 1 + this.#blocks) % this.#blocks);
    this.#upstream = rankOf(traffic, this.#end % this.#blocks);
    this.#outgoing = new Leg(this.#blocks);
    this.#incoming = new Leg(this.#blocks);
    this.#outbox = bytesOf(traffic.outbox);
    this.#inbox = bytesOf(traffic.inbox);
  }

  /** Carries until the main thread wants an end and everything has been carried. */
  run(): void {
    const { bell, tally: sums } = this.#traffic;
    let before = performance.now();
    let lastEvent = before;
    for (;;) {
      const rung = Atomics.load(bell, 0);
      const busy = this.#isBusy;
      this.#hasWoken = false;
      const moved = this.#step();
      const now = performance.now();
      if (busy) sums[tally.milliseconds] += now - before;
      before = now;
      this.#communicator.tend(now);
      if (moved) lastEvent = now;
      if (this.#communicator.shouldEndCarrying && this.#isDone()) return;
      // Whoever has been woken needs the core that it had left to this thread.
      const maySpin = Atomics.load(bell, waiting) > 0 && !this.#hasWoken;
      if (maySpin && now - lastEvent < patience) {
        this.#communicator.yieldCore();
        continue;
      }
      const nap = this.#communicator.requests.underWay > 0 ? shortNap : longNap;
      if (Atomics.wait(bell, 0, rung, nap) !== 'timed-out') lastEvent = performance.now();
    }
  }

  /** Something of ours is on the wire. What others have yet to send is not our business. */
  get #isBusy(): boolean {
    return this.#outgoing.done < this.#outgoing.begun || this.#gathering;
  }

  /** Does what can be done now; whether there was anything. */
  #step(): boolean {
    let moved = this.#communicator.requests.poll();
    if (this.#travel) {
      while (this.#receiveNext()) moved = true;
      while (this.#sendNext()) moved = true;
      while (this.#announceArrival()) moved = true;
    }
    return this.#gatherNext() || moved;
  }

  #sendNext(): boolean {
    const { tokens, tally: sums } = this.#traffic;
    const index = this.#outgoing.begun;
    const block = (this.#first + index) % this.#blocks;
    const luggage = this.#luggageOf(index);
    if (!luggage || Atomics.load(tokens, block * tokenStride) !== index + 1) return false;
    const messages = luggage[block];
    this.#outgoing.begin(messages.length);
    for (const message of messages) {
      this.#communicator.requests.send(
        message,
        this.#downstream,
        tags.block,
        this.#outgoing,
        index,
      );
      sums[tally.sent] += message.length;
      sums[tally.messages]++;
    }
    return true;
  }

  #receiveNext(): boolean {
    const index = this.#incoming.begun;
    const block = (this.#end + index) % this.#blocks;
    const luggage = this.#luggageOf(index);
    if (!luggage || this.#outgoing.done <= this.#occupant(index)) return false;
    const messages = luggage[block];
    this.#incoming.begin(messages.length);
    for (const message of messages) {
      this.#communicator.requests.receive(
        message,
        this.#upstream,
        tags.block,
        this.#incoming,
        index,
      );
      this.#traffic.tally[tally.received] += message.length;
    }
    return true;
  }

  /**
   * Which sending must be over before block `index` can be received: of the same block, if it is at
   * home here, otherwise of the guest that had its slot before (see lodge).
   */
  #occupant(index: number): number {
    const home = this.#end - this.#first;
    const guests = this.#blocks - home;
    const slots = Math.min(home + 2, guests);
    const turn = index % this.#blocks;
    if (turn >= guests) return index - guests;
    if (turn >= slots) return index - slots + home;
    const last = turn + slots * Math.floor((guests - 1 - turn) / slots);
    return index - turn - this.#blocks + last + home;
  }

  /** A block has come: whoever waits for it sees so. */
  #announceArrival(): boolean {
    if (this.#arrived === this.#incoming.done) return false;
    const { tokens } = this.#traffic;
    const at = ((this.#end + this.#arrived++) % this.#blocks) * tokenStride;
    Atomics.store(tokens, at, this.#arrived);
    if (Atomics.notify(tokens, at) > 0) this.#hasWoken = true;
    return true;
  }

  /** What travels in the rotation that a visit belongs to, once it has begun. */
  #luggageOf(visit: number): Luggage | undefined {
    const cargo = announcedCargo(this.#traffic, Math.floor(visit / this.#blocks));
    if (cargo === undefined) return undefined;
    while (this.#luggage[cargo] === undefined) {
      const received = receiveMessageOnPort(this.#port);
      if (!received) return undefined;
      const { cargo: id, views } = received.message as CargoList;
      this.#luggage[id] = views.map((arrays) => arrays.flatMap(messagesOf));
    }
    return this.#luggage[cargo];
  }

  #gatherNext(): boolean {
    const { gatherings } = this.#traffic;
    const open = Atomics.load(gatherings, asked) > Atomics.load(gatherings, answered);
    if (!open || this.#gathering) return false;
    this.#gathering = true;
    this.#communicator.requests.gather(this.#outbox, this.#inbox, this, 0);
    return true;
  }

  /** A gathering is over. */
  completed(): void {
    const { gatherings } = this.#traffic;
    this.#gathering = false;
    Atomics.add(gatherings, answered, 1);
    if (Atomics.notify(gatherings, answered) > 0) this.#hasWoken = true;
  }

  /** Whether all rotations that have begun are over, and nobody waits for a gathering. */
  #isDone(): boolean {
    const { orders, gatherings } = this.#traffic;
    const visits = this.#travel ? Atomics.load(orders, 0) * this.#blocks : 0;
    return (
      this.#outgoing.done === visits &&
      this.#arrived === visits &&
      Atomics.load(gatherings, asked) === Atomics.load(gatherings, answered)
    );
  }
}
