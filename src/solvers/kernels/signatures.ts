import type { Kernels } from './kernels.ts';

export type KernelName = Exclude<keyof Kernels, 'name'>;

/**
 * How a kernel calls its function in the WebAssembly module: its parameters, the values it passes,
 * and, where weights may be bounded, the function to call then and where it finds the bounds.
 *
 * Values: `a` or `a.b` the address of an array, `#a` a number, `?a` a flag, `@a` the length of an
 * array, `0` zero, `*` the parameter of the loss. A group such as `rows` means the members listed below.
 */
export type Signature = readonly [parameters: string, values: string, bounded?: string];

const cell = 'cell.offsets cell.indices cell.values';
const units = 'order #begin #end';
const pending = 'pending.units pending.deltas';
const map = 'map.image map.threshold map.inverse map.shift';
const whole = '#whole.rows #whole.blocks whole.offsets whole.indices whole.values whole.starts';
const loss = 'rows.labels rows.rowWeights';
const wholeRow = `${loss} rows.alpha rows.norms`;
const rows = `${wholeRow} rows.collisions rows.counts rows.level rows.skip`;
const step = '#step.damping #step.inverseTotalWeight #step.deltaScale #step.shrink *';
const margins = `${loss} rows.margins rows.slopes rows.curvatures rows.dirty rows.density`;
const columns =
  'columns.weights columns.gradients columns.hessians columns.l1 columns.l2 ' +
  'columns.counts columns.level columns.skip';
const of = 'labels rowWeights';
const packed = 'packed.offsets packed.indices packed.values';
const piece = `${packed} #begin #end`;
const dualColumns = 'columns.hessians columns.l1 columns.counts';
const bounded = 'columns.image columns.errors columns.l1';
const visited = `${cell} #begin #end ?byRow`;
const working =
  'columns.now columns.gradients columns.hessians columns.l1 columns.l2 columns.violations columns.counts';

export const signatures: Readonly<Record<KernelName, Signature>> = {
  gather: ['cell order begin end fresh source result', `${cell} ${units} ?fresh source result`],
  scatter: ['cell pending count target', `${cell} ${pending} #count target`],
  gatherSizes: ['cell order begin end source result', `${cell} ${units} source result`],
  gatherBoth: ['cell order begin end source result sizes', `${cell} ${units} source result sizes`],
  scatterSizes: ['cell pending count target', `${cell} ${pending} #count target`],
  scatterBoth: ['cell pending count target sizes', `${cell} ${pending} #count target sizes`],
  scatterMapped: [
    'cell pending count map weights',
    `${cell} ${pending} #count ${map} weights`,
    'scatterBounded map.box',
  ],
  rowNorms: ['cell units a b norms collisions', `${cell} #units a b norms collisions`],
  stepRows: [
    'order begin end margins rows step pending stats',
    `${units} margins ${rows} ${step} ${pending} stats`,
  ],
  sweepRows: [
    'cell order begin end rows step weights stats',
    `${cell} ${units} ${rows} ${step} weights stats`,
  ],
  sweepRowsMapped: [
    'cell order begin end rows step map weights stats',
    `${cell} ${units} ${rows} ${step} ${map} weights stats`,
    'sweepRowsBounded map.box',
  ],
  sweepWholeRows: [
    'whole order begin end rows inverseTotalWeight inverse weights stats',
    `${whole} ${units} ${wholeRow} rows.counts #inverseTotalWeight inverse weights * stats`,
  ],
  stepWholeRows: [
    'whole order begin end margins rows step pull drift pending stats',
    `${whole} ${units} margins ${rows} ${step} pull drift ${pending} stats`,
  ],
  sweepStage: [
    'whole order begin end rows step pull hot weights stats',
    `${whole} ${units} ${rows} ${step} pull hot weights stats`,
  ],
  addChanges: [
    'target base copies stride workers first end share hot',
    'target base copies #stride #workers #first #end share #hot',
  ],
  scatterColumns: ['cell pending count rows', `${cell} ${pending} #count rows.margins rows.dirty`],
  gatherColumns: [
    'cell order begin end fresh rows columns damping',
    `${cell} ${units} ?fresh ${margins} columns.gradients columns.hessians #damping *`,
  ],
  stepColumns: [
    'order begin end columns inverseTotalWeight pending stats',
    `${units} ${columns} #inverseTotalWeight ${pending} stats`,
    'stepColumnsBounded columns.box',
  ],
  sweepColumns: [
    'cell order begin end rows columns damping inverseTotalWeight stats',
    `${cell} ${units} ${margins} ${columns} #damping #inverseTotalWeight * stats`,
    'sweepColumnsBounded columns.box',
  ],
  saddleRows: [
    'cell order begin end rows columns step',
    `${cell} ${units} ${loss} rows.alpha rows.accumulators rows.inverseCounts rows.low rows.high ` +
      'rows.snapshot rows.snapshotGradient columns #step.weightStep #step.alphaStep ' +
      '?step.adagrad ?step.svrg #step.l1 #step.l2 #step.inverseTotalWeight *',
  ],
  sgdRows: [
    'whole order begin end rows lines clock step',
    `${whole} ${units} ${loss} rows.alpha lines clock ` +
      '?step.adagrad #step.stepSize #step.aging #step.rowShare *',
    'sgdRowsBounded #step.bounds',
  ],
  sgdSettle: ['lines held clock', 'lines held @held clock'],
  lossSum: ['margins labels rowWeights', `margins ${of} 0 @margins *`],
  conjugateSum: ['alpha labels rowWeights scale', `alpha ${of} 0 @alpha #scale *`],
  conjugateSlope: ['from to labels rowWeights eta', `from to ${of} 0 @from #eta *`],
  lossSlope: ['from to labels rowWeights eta', `from to ${of} 0 @from #eta *`],
  dualPoint: ['margins labels rowWeights alpha', `margins ${of} 0 @margins alpha *`],
  expandLoss: [
    'margins labels rowWeights isBent alpha curvatures',
    `margins ${of} 0 @margins ?isBent alpha curvatures *`,
  ],
  dualSlopes: ['alpha labels rowWeights target', `alpha ${of} 0 @alpha target *`],
  shiftAlpha: ['alpha labels rowWeights shift target', `alpha ${of} 0 @alpha #shift target *`],
  extrapolate: ['now start previous beta', 'now start previous @now #beta'],
  interpolate: ['target from to share', 'target from to @target #share'],
  scaleInto: ['source target factor', 'source target @target #factor'],
  combine: ['target a factor b', 'target a b @target #factor'],
  multiplyInto: ['a b target', 'a b target @target'],
  penaltySum: ['weights l1 l2', 'weights l1 l2 @weights'],
  penaltyConjugateSum: ['image l1 l2', 'image l1 l2 @image'],
  boundedConjugateSum: ['image l1 l2 box scale', 'image l1 l2 box.low box.high @image #scale'],
  penaltySlope: ['from to l1 l2 share', 'from to l1 l2 @from #share'],
  changeAlong: ['from to', 'from to @from'],
  changeSquare: ['from to', 'from to @from'],
  mapWeights: ['map weights', `${map} weights @weights`, 'mapBounded map.box'],
  mappedSlope: ['map start share', `${map} start @start #share`, 'boundedSlope map.box'],
  segmentProducts: [
    'cell begin end fresh source result',
    `${cell} #begin #end ?fresh source result`,
  ],
  segmentSquares: [
    'cell begin end fresh source result',
    `${cell} #begin #end ?fresh source result`,
  ],
  segmentSum: ['x', 'x @x'],
  segmentDot: ['x y', 'x y @x'],
  proximalAlong: [
    'margins change share rows width alpha',
    `margins change #share ${loss} rows.centre #width @margins alpha *`,
  ],
  proximalPoint: [
    'margins rows width flat alpha curvatures',
    `margins ${loss} rows.centre #width ?flat @margins alpha curvatures *`,
  ],
  addProducts: [
    'a stride begin end count c rowStride sign',
    'a #stride #begin #end #count c #rowStride #sign',
  ],
  addRowProducts: ['whole block scales gram stride', `${whole} #block scales gram #stride`],
  packColumns: ['cell order begin end packed', `${cell} ${units} ${packed}`],
  packRows: [
    'packed columns byRows',
    `${packed} #columns byRows.offsets @byRows.offsets byRows.indices byRows.values`,
  ],
  modelRows: [
    'margins labels rowWeights known derivatives slopes curvatures',
    `margins ${of} ?known @margins derivatives slopes curvatures *`,
  ],
  searchSlope: [
    'next labels rowWeights inverses moved derivatives',
    `next ${of} inverses moved derivatives @next *`,
  ],
  boundCurvatures: [
    'curvatures rowWeights least inverses',
    'curvatures rowWeights @curvatures #least inverses',
  ],
  modelError: [
    'margins labels rowWeights slopes inverses moved isOpen',
    `margins ${of} slopes inverses moved @moved ?isOpen *`,
  ],
  sumColumns: [
    'packed begin end slopes curvatures gradients hessians',
    `${piece} slopes curvatures gradients hessians`,
  ],
  countSharing: ['packed begin end sharing shares', `${piece} sharing shares`],
  sumTogether: [
    'packed begin end slopes curvatures shares gradients hessians',
    `${piece} slopes curvatures shares gradients hessians`,
  ],
  sweepWorkingSet: [
    'packed begin end curvatures moved columns scale above stats',
    `${piece} curvatures moved ${working} #scale #above stats`,
  ],
  dotColumns: ['packed begin end source result', `${piece} source result`],
  stepWorkingSet: [
    'begin end dots columns scale above deltas stats',
    `#begin #end dots ${working} #scale #above deltas stats`,
  ],
  moveColumns: ['packed begin end deltas curvatures target', `${piece} deltas curvatures target`],
  sweepDual: [
    'packed begin end curvatures alpha columns allowed scale stats',
    `${piece} curvatures alpha ${dualColumns} #allowed #scale stats`,
  ],
  stepDual: [
    'begin end dots columns allowed scale deltas stats',
    `#begin #end dots ${dualColumns} #allowed #scale deltas stats`,
  ],
  productOfSum: ['a b c', 'a b c @a'],
  productOfThree: ['a b c', 'a b c @a'],
  scaledChange: ['from to factor target', 'from to factor @target target'],
  addScaled: ['target share factor source', 'target #share factor source @target'],
  cornerSum: ['p z l1 side', 'p z l1 @p #side'],
  penaltySlopeBefore: ['from to l1 l2 share', 'from to l1 l2 @from #share'],
  bendDirection: ['now direction l1 bent cut', 'now direction l1 bent @bent cut.units cut.deltas'],
  moveWeights: ['now direction share hit', 'now direction @direction #share #hit'],
  measureViolations: [
    'weights image l1 l2 level found',
    'weights image l1 l2 @weights #level found',
  ],
  addMultiple: ['target share source', 'target #share source @target'],
  gatherPanel: [
    'cell count panel results sizes stride',
    `${cell} #count panel results sizes #stride`,
  ],
  scatterPanel: [
    'cell count sources stride panel sizes',
    `${cell} #count sources #stride panel sizes`,
  ],
  addColumnProducts: [
    'rows columns scales begin end gram stride',
    'rows.offsets rows.indices rows.values columns.offsets columns.indices columns.values ' +
      'columns.places scales #begin #end gram #stride',
  ],
  solveRows: ['matrix size first end from to', 'matrix #size #first #end #from #to'],
  solveFactor: ['matrix size x', 'matrix #size x'],
  lossErrors: [
    'margins labels rowWeights sizes counts more adding kind found',
    `margins ${of} sizes counts @margins #more #adding #kind found *`,
  ],
  conjugateErrors: [
    'alpha labels rowWeights scale kind found',
    `alpha ${of} @alpha #scale #kind found *`,
  ],
  curvatureSum: ['margins labels rowWeights', `margins ${of} @margins *`],
  imageErrors: ['image sizes counts more exactly', 'image sizes counts @image #more ?exactly'],
  penaltyBounds: [
    'columns box scale rounding found',
    `${bounded} columns.l2 #columns.skip @columns.image #scale #rounding found`,
    'penaltyBoundsInBox box',
  ],
  greatestRatio: [
    'columns box',
    `${bounded} #columns.skip @columns.image`,
    'greatestRatioInBox box',
  ],
  columnRooms: [
    'columns box scale',
    `${bounded} #columns.skip @columns.image #scale`,
    'columnRoomsInBox box',
  ],
  addSquares: [
    'cell begin end byRow rowWeights squares sums',
    `${visited} rowWeights squares sums`,
  ],
  addExactly: ['cell begin end byRow alpha high low', `${visited} alpha high low`],
  listUnits: [
    'runs length skip now start active',
    'runs @runs #length @active skip now start active',
  ],
};

/** Functions of the module that have another name than their kernel. */
export const exportNames: ReadonlyMap<string, string> = new Map([['listUnits', 'dealRuns']]);
