/** What XML 1.0 has no place for, not even escaped: most control characters, halves of pairs. */
const forbidden =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for.
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Text as it may stand in HTML and XML, between tags and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return text
    .replaceAll(forbidden, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
