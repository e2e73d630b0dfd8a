/** What a model can be written as. */
export const exportFormats = [
  'onnx',
  'liblinear',
  'vw-readable',
  'json',
  'pmml',
  'csv',
  'typescript',
] as const;

export type ExportFormat = (typeof exportFormats)[number];
