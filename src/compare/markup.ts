/** What XML 1.0 has no place for, not even escaped: most control characters, halves of pairs. */
const forbidden = /[^\P{Cc}\t\n\r]|\p{Cs}|[\ufffe\uffff]/gu;

/** Text without what XML has no place for. */
export function sound(text: string): string {
  return text.replaceAll(forbidden, '\ufffd');
}

/** Text as it may stand in HTML and XML, between tags and in quoted attributes. */
export function escapeMarkup(text: string): string {
  return sound(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
