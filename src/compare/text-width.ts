/** Characters by their width in Arimo and Arial, in thousandths of the size of the font. */
const widths: readonly (readonly [width: number, characters: string])[] = [
  [191, "'"],
  [222, 'ijl'],
  [260, '|'],
  [278, ' !,./:;I[\\]ft'],
  [333, '()-`r·⁻⁰¹²³⁴⁵⁶⁷⁸⁹{}'],
  [355, '"'],
  [389, '*'],
  [469, '^'],
  [500, 'Jcksvxyzλ'],
  [556, '#$0123456789?L_abdeghnopqu–'],
  [584, '+<=>~−×α'],
  [611, 'FTZ'],
  [667, '&ABEKPSVXY'],
  [722, 'CDHNRUw'],
  [778, 'GOQ'],
  [833, 'Mm'],
  [889, '%'],
  [944, 'W'],
  [1000, '…@'],
];

/** For any other character, so that it hardly ever has too little room. */
const otherWidth = 667;

const widthOf = new Map(
  widths.flatMap(([width, characters]) => characters.split('').map((one) => [one, width] as const)),
);

/** How wide a text is, in the unit of its font size. */
export function textWidth(text: string, size: number): number {
  let sum = 0;
  for (const character of text) sum += widthOf.get(character) ?? otherWidth;
  return (sum * size) / 1000;
}
