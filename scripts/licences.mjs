/** Licences under which a package may be shipped with this one or installed by it. */
const allowed = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MPL-2.0',
  'OFL-1.1',
];

/**
 * Whether an SPDX expression can be met with allowed licences: one of those between OR, all of those
 * between AND.
 *
 * @param {string} expression such as `MIT OR (Apache-2.0 AND ISC)`
 * @returns {boolean}
 */
export function isAllowed(expression) {
  const plain = expression.replaceAll(/[()]/g, ' ');
  // Without parentheses AND binds more tightly; with them only an expression of one kind is read.
  if (plain !== expression && /\bOR\b/.test(plain) && /\bAND\b/.test(plain)) return false;
  return plain
    .split(/\bOR\b/)
    .some((part) => part.split(/\bAND\b/).every((name) => allowed.includes(name.trim())));
}
