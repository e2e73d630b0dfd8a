export interface ClassificationMetrics {
  readonly task: 'classification';
  readonly rows: number;
  readonly accuracy: number;
  readonly error: number;
  /** null when one class is absent. */
  readonly auc: number | null;
  readonly auprc: number | null;
  readonly logLoss: number | null;
  readonly confusion: {
    readonly truePositive: number;
    readonly falsePositive: number;
    readonly trueNegative: number;
    readonly falseNegative: number;
  };
}

export interface RegressionMetrics {
  readonly task: 'regression';
  readonly rows: number;
  readonly mse: number;
  readonly mae: number;
  /** null when all labels are equal. */
  readonly r2: number | null;
}

export type Metrics = ClassificationMetrics | RegressionMetrics;
