import { byteText } from './mutate.ts';

/** What parsers get wrong, in words with blanks between them. */
const numbers = `
  0 -0 +1 1 007 1. .5 . - 1e400 -1e400 1e308 3.4e38 3.5e38 -3.4028236e38 1e-320 1e-45 7e-46 1e+5 1e
  1e99999999999 5E-1 nan NaN inf -Infinity 0x10 1_000 1,5 16777217 0.1000000014901161 2147483645
  2147483646 2147483647 4294967296 9007199254740993 1e21 ٣`;
const longNumbers = [
  '9'.repeat(400),
  `0.${'0'.repeat(60)}1`,
  `1.00000005960464477539${'0'.repeat(30)}1`,
];
const marks = ['\n', '\r\n', '\r', '\t', ' ', '\0', '\u001b[31m', '\ufeff', '\u2028', '\u0085', ''];
const words = '# : , ; " | é 日本 x y';
/** No UTF-8, but for the last: a mark that reverses the order of what follows. */
const brokenText = ['\xff', '\xc3', '\xed\xa0\x80', '\xf4\x90\x80\x80', '\xe2\x80\xae'];

const libsvm = `
  1: :1 1:1 2:1 2:-1 0:1 2147483646:1 2147483647:1 00000000002:1 qid:1 qid: sid:1 1:1e39 1:3.3e38
  1:1# 1,2 red -1:2`;
const table = '"" " "a""b" "1" NA ? x=? x city=Paris y weight label class c1 ,,';
const json = String.raw`
  null true {} [] { } [ ] " \ \u0000 \ud800 \u001b "label": "y":1, "weight":-1, "features":{"x":1},
  "features":[1,2], "a.b":1, "x":"?", "x=?":1, "__proto__":{"x":1}, "constructor":1, "x":1e400,
  "x":[1,"2"], "":1, "a":{"b":1},`;
const vowpal = `'tag | || |a |b:2 |b:1e39 :1 x: x:1 x:3e38 a^x 0| |: 1 x:nan`;

const own = {
  libsvm: [...split(libsvm), '3:3.3e38 3:3.3e38'],
  csv: [...split(table), '"\n"'],
  tsv: [...split(table), '"\n"', '\t\t'],
  jsonl: [...split(json), `"deep":${'['.repeat(40)}${']'.repeat(40)},`, '['.repeat(2000)],
  vw: [...split(vowpal), '1 1 0', '1 -1', '1 1 1 1', '| a^x |a x'],
};

function split(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** What may take the place of a word in a text of the format; a character per byte. */
export function tokensOf(format: keyof typeof own): string[] {
  const everywhere = [...split(numbers), ...longNumbers, ...marks, ...split(words)];
  return [...[...everywhere, ...own[format], ...own[format]].map(byteText), ...brokenText];
}
