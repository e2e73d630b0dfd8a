import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import { VisitSlots } from '../block-layout.ts';
import { received } from '../messages.ts';
import { tokenStride } from '../team.ts';
import {
  announcedFields,
  answered,
  type CommChannel,
  exchangesBlocks,
  type FieldViews,
  rankOf,
  requested,
  transferCounter,
  waiting,
} from './comm-channel.ts';
import { bytesOf, type Communicator, messagesOf } from './communicator.ts';
import { type Owner, tags } from './requests.ts';

/** Milliseconds of sleep between polls while messages are under way, and while none is. */
const shortNap = 0.1;
const longNap = 5;
/** Milliseconds without an event after which it no longer spins. */
const pollTimeout = 1;

/** Blocks sent, or received, counted since the run began; some may be under way. */
class TransferQueue implements Owner {
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

interface BlockMessages {
  readonly outgoing: Uint8Array[][];
  readonly incoming: Uint8Array[][];
}

/**
 * The network half of Algorithm 1. The process runs the workers first … end-1 of a ring of p.
 * Counted since the run began, block (first + k) mod p is sent on after worker `first` has made its
 * visit k, and block (end + k) mod p is received for visit k + 1 of worker end-1. Threads see in a
 * block's token, the count of its completed visits, that it has arrived.
 *
 * It also exchanges what all processes have put into their send buffers.
 */
export class BlockTransfer implements Owner {
  readonly #communicator: Communicator;
  readonly #channel: CommChannel;
  readonly #port: MessagePort;
  /** By the id of the fields: what of each block is sent, and what is received. */
  readonly #messages: BlockMessages[] = [];
  readonly #outgoing: TransferQueue;
  readonly #incoming: TransferQueue;
  readonly #slots: VisitSlots;
  readonly #blocks: number;
  readonly #first: number;
  readonly #end: number;
  readonly #exchangesBlocks: boolean;
  readonly #firsts: Int32Array;
  readonly #downstream: number;
  readonly #upstream: number;
  #arrived = 0;
  #gathering = false;
  #hasWoken = false;

  constructor(communicator: Communicator, channel: CommChannel, port: MessagePort) {
    const { firsts, rank } = channel;
    this.#communicator = communicator;
    this.#channel = channel;
    this.#port = port;
    this.#firsts = firsts;
    this.#blocks = firsts[firsts.length - 1];
    this.#first = firsts[rank];
    this.#end = firsts[rank + 1];
    this.#slots = new VisitSlots(this.#blocks, this.#first, this.#end);
    this.#exchangesBlocks = exchangesBlocks(channel);
    this.#downstream = rankOf(channel, (this.#first - 1 + this.#blocks) % this.#blocks);
    this.#upstream = rankOf(channel, this.#end % this.#blocks);
    this.#outgoing = new TransferQueue(this.#blocks);
    this.#incoming = new TransferQueue(this.#blocks);
  }

  /** Runs until the main thread requests the end and everything has arrived. */
  run(): void {
    const { wakeFlag, transferCounters } = this.#channel;
    let before = performance.now();
    let lastEvent = before;
    for (;;) {
      const flag = Atomics.load(wakeFlag, 0);
      const busy = this.#isBusy;
      this.#hasWoken = false;
      const moved = this.#step();
      const now = performance.now();
      if (busy) transferCounters[transferCounter.milliseconds] += now - before;
      before = now;
      this.#communicator.poll(now);
      if (moved) lastEvent = now;
      if (this.#communicator.shouldEndTransfer && this.#isDone()) return;
      // A thread that has been woken needs the core that it had left to this one.
      const maySpin = Atomics.load(wakeFlag, waiting) > 0 && !this.#hasWoken;
      if (maySpin && now - lastEvent < pollTimeout) {
        this.#communicator.yieldCore();
        continue;
      }
      const nap = this.#communicator.requests.underWay > 0 ? shortNap : longNap;
      if (Atomics.wait(wakeFlag, 0, flag, nap) !== 'timed-out') lastEvent = performance.now();
    }
  }

  /** Whether something of this process is under way; what others have yet to send does not count. */
  get #isBusy(): boolean {
    return this.#outgoing.done < this.#outgoing.begun || this.#gathering;
  }

  /** Does what can be done now; whether there was anything. */
  #step(): boolean {
    let moved = this.#communicator.requests.poll();
    if (this.#exchangesBlocks) {
      while (this.#receiveNext()) moved = true;
      while (this.#sendNext()) moved = true;
      while (this.#announceArrival()) moved = true;
    }
    return this.#gatherNext() || moved;
  }

  #sendNext(): boolean {
    const { tokens, transferCounters } = this.#channel;
    const index = this.#outgoing.begun;
    const block = (this.#first + index) % this.#blocks;
    const messages = this.#messagesOf('outgoing', index, block);
    if (!messages || Atomics.load(tokens, block * tokenStride) !== index + 1) return false;
    const { requests } = this.#communicator;
    this.#outgoing.begin(messages.length);
    for (const message of messages) {
      requests.send(message, this.#downstream, tags.block, this.#outgoing, index);
      transferCounters[transferCounter.sent] += message.length;
    }
    return true;
  }

  #receiveNext(): boolean {
    const index = this.#incoming.begun;
    const messages = this.#messagesOf('incoming', index, (this.#end + index) % this.#blocks);
    if (!messages || this.#outgoing.done <= this.#slots.freeAfter(index)) return false;
    const { requests } = this.#communicator;
    this.#incoming.begin(messages.length);
    for (const message of messages) {
      requests.receive(message, this.#upstream, tags.block, this.#incoming, index);
      this.#channel.transferCounters[transferCounter.received] += message.length;
    }
    return true;
  }

  /** A block has arrived: threads that wait for it see its token. */
  #announceArrival(): boolean {
    if (this.#arrived === this.#incoming.done) return false;
    const { tokens } = this.#channel;
    const at = ((this.#end + this.#arrived++) % this.#blocks) * tokenStride;
    Atomics.store(tokens, at, this.#arrived);
    if (Atomics.notify(tokens, at) > 0) this.#hasWoken = true;
    return true;
  }

  /** The messages of a block in the rotation that a visit belongs to, once that has begun. */
  #messagesOf(
    way: keyof BlockMessages,
    visit: number,
    block: number,
  ): readonly Uint8Array[] | undefined {
    const fields = announcedFields(this.#channel, Math.floor(visit / this.#blocks));
    if (fields === undefined) return undefined;
    while (this.#messages[fields] === undefined) {
      const next = receiveMessageOnPort(this.#port);
      if (!next) return undefined;
      const sent = received(next.message) as FieldViews;
      this.#messages[sent.fields] = {
        outgoing: this.#messagesTo(this.#downstream, sent),
        incoming: this.#messagesTo(this.#channel.rank, sent),
      };
    }
    return this.#messages[fields][way][block];
  }

  /** What is sent to a rank of each block, some of which are at home there. */
  #messagesTo(rank: number, { views, homeViews }: FieldViews): Uint8Array[][] {
    const [first, end] = this.#firsts.subarray(rank);
    return views.map((arrays, block) =>
      (block >= first && block < end ? homeViews[block] : arrays).flatMap(messagesOf),
    );
  }

  #gatherNext(): boolean {
    const { allgathers, sendBuffer, receiveBuffer } = this.#channel;
    const open = Atomics.load(allgathers, requested) > Atomics.load(allgathers, answered);
    if (!open || this.#gathering) return false;
    this.#gathering = true;
    this.#communicator.requests.gather(bytesOf(sendBuffer), bytesOf(receiveBuffer), this, 0);
    return true;
  }

  completed(): void {
    const { allgathers } = this.#channel;
    this.#gathering = false;
    Atomics.add(allgathers, answered, 1);
    if (Atomics.notify(allgathers, answered) > 0) this.#hasWoken = true;
  }

  /** Whether all rotations that have begun are over, and no thread waits for an allgather. */
  #isDone(): boolean {
    const { rotationLog, allgathers } = this.#channel;
    const visits = this.#exchangesBlocks ? Atomics.load(rotationLog, 0) * this.#blocks : 0;
    return (
      this.#outgoing.done === visits &&
      this.#arrived === visits &&
      Atomics.load(allgathers, requested) === Atomics.load(allgathers, answered)
    );
  }
}
