import { isIP } from 'node:net';

const form = /^(?:\[([0-9a-f:.]+)\]|([^\s:/@[\]]+))(?::\d{0,5})?$/i;

/** The name or address in a Host header, without the port; undefined if it has none. */
function hostNameOf(header: string): string | undefined {
  const [, address, name] = form.exec(header) ?? [];
  return (address ?? name)?.toLowerCase().replace(/\.$/, '');
}

export function isLoopback(name: string): boolean {
  return name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'));
}

/**
 * The names of a server in requests. Another site may let its own name resolve to this machine (DNS
 * rebinding), and the browsers of its visitors then send requests here; they still carry that name.
 * An address cannot be made to lead elsewhere, so on a network any address is accepted.
 */
export class HostNames {
  readonly #names: ReadonlySet<string>;
  readonly #anyAddress: boolean;

  /** `address`: what is listened on. */
  constructor(address: string, names: readonly string[] = []) {
    this.#names = new Set([address, ...names].map((name) => name.toLowerCase()));
    this.#anyAddress = !isLoopback(address.toLowerCase());
  }

  /** Requests without the header are older than HTTP/1.1 and not from browsers. */
  accepts(header: string | undefined): boolean {
    if (header === undefined) return true;
    const name = hostNameOf(header);
    if (name === undefined) return false;
    if (this.#names.has(name) || isLoopback(name)) return true;
    return this.#anyAddress && isIP(name) !== 0;
  }
}
