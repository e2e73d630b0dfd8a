import { readFileSync } from 'node:fs';

/** A fenced block of a document: ```language file ⏎ text ⏎ ``` */
export interface CodeBlock {
  readonly language: string;
  /** The word behind the language: the block is a file of that name. */
  readonly file: string | undefined;
  readonly text: string;
  /** The line of the document that opens the block, from 1. */
  readonly line: number;
  /** Whether nothing but a blank line is between this block and the one before it. */
  readonly follows: boolean;
}

const fence = /^```(\S*)[ \t]*(\S*)[ \t]*\n([\s\S]*?)^```[ \t]*$/gm;

export function codeBlocks(path: string): CodeBlock[] {
  const document = readFileSync(path, 'utf8');
  let end = 0;
  return [...document.matchAll(fence)].map((match) => {
    const between = document.slice(end, match.index);
    const follows = end > 0 && between.trim() === '';
    end = match.index + match[0].length;
    return {
      language: match[1],
      file: match[2] === '' ? undefined : match[2],
      text: match[3],
      line: document.slice(0, match.index).split('\n').length,
      follows,
    };
  });
}

/** What the links of a document point to, without code blocks, other sites and anchors. */
export function localLinks(path: string): string[] {
  const prose = readFileSync(path, 'utf8')
    .replace(fence, '')
    .replace(/`[^`]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target]) => target)
    .filter((target) => !/^(?:[a-z]+:|#)/.test(target))
    .map((target) => target.replace(/#.*$/, ''));
}

/**
 * The lines of an output without what differs between two runs: times, the number of threads, and
 * the forecast of the time left, which may be absent. Of long numbers eight digits count, so that
 * a sum taken in another order does not make a document wrong.
 */
export function comparable(output: string): string[] {
  return output
    .trim()
    .replace(/ {2}[\d.]+ (?:s|min \d+ s|h \d+ min) left$/gm, '')
    .replace(/^threads computed .*\n/gm, '')
    .replace(/\b(?:\d+ h \d+ min|\d+ min \d+ s|[\d.]+ s)\b/g, '… s')
    .replace(/\b\d+\.\d{9,}\b/g, (number) => String(Number(Number(number).toPrecision(8))))
    .replace(/\bon \d+ threads?\b/g, 'on … threads')
    .split('\n');
}

/** The line in a document's output that represents any number of lines left out. */
export const leftOut = '…';
