/** What a model can be written as: apart from the table, since the options of commands name them. */
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
