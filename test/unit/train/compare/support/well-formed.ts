const voidElements = new Set(['meta', 'input', 'br', 'hr', 'img', 'link']);

/** What is wrong with the nesting, quoting or escaping of markup; undefined when nothing is. */
export function markupFault(text: string): string | undefined {
  const open: string[] = [];
  const tokens =
    /<!doctype html>|<style>[\s\S]*?<\/style>|<(?<close>\/)?(?<name>[a-z][\w:-]*)(?:\s+[\w:-]+(?:="[^"<]*")?)*\s*(?<empty>\/)?>/gi;
  const rest = text.replace(tokens, (_whole, ...parts: unknown[]) => {
    const { close, name, empty } = parts.at(-1) as Record<string, string | undefined>;
    if (name === undefined || empty || voidElements.has(name)) return '';
    if (!close) open.push(name);
    else if (open.at(-1) === name) open.pop();
    else open.push(`</${name}>`);
    return '';
  });
  if (open.length > 0) return `not closed or not open: ${open.join(' ')}`;
  const stray = /[<>]|&(?!(?:amp|lt|gt|quot|#\d+);)/.exec(rest);
  return stray ? `stray ${rest.slice(stray.index, stray.index + 40)}` : undefined;
}

/** What a page would load from other hosts. */
export function externalReferences(page: string): string[] {
  const namespaces = page.replaceAll('xmlns="http://www.w3.org/2000/svg"', '');
  const loading =
    /(?:https?:)?\/\/[^\s"')]+|\b(?:src|href|srcset|data|action)\s*=\s*"[^"]*"|url\([^)]*\)|@import|<script|<link/gi;
  return [...namespaces.matchAll(loading)].map(([found]) => found);
}

/** Width and height of a PNG; throws when it is none. */
export function pngSize(bytes: Buffer): [number, number] {
  const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
  if (!signature.every((byte, index) => bytes[index] === byte)) throw new Error('not a PNG');
  return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
}
