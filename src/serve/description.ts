import packageDescription from '../../package.json' with { type: 'json' };
import type { LoadedModel } from '../apps/serve/model-reloader.ts';

/** For probes: that there is a model, and which. */
export function healthOf(name: string, { model, version, loadedAt }: LoadedModel): object {
  return {
    status: 'ok',
    model: name,
    version,
    loadedAt: loadedAt.toISOString(),
    gap: model.certificate.gap,
    relativeGap: model.certificate.relativeGap,
    dso: packageDescription.version,
  };
}

/**
 * Everything about the model but its numbers: no weights, names of features or points of a
 * calibration. A loss of one's own is told by name, without the file it is in.
 */
export function descriptionOf(name: string, { model, version, loadedAt }: LoadedModel): object {
  const { weights: _, intercepts: _biases, featureNames, loss, calibration, ...rest } = model;
  return {
    model: name,
    version,
    loadedAt: loadedAt.toISOString(),
    ...rest,
    loss: { name: loss.name, parameter: loss.parameter },
    named: featureNames !== undefined || rest.recipe?.hashBits !== undefined,
    ...(calibration && { calibration: calibration.map(({ method }) => method) }),
  };
}

/** A row that the model can score, as JSON, for people to begin with. */
export function exampleRow({ model }: LoadedModel): string {
  const { featureNames, recipe } = model;
  const field = recipe?.fields?.find(({ kind }) => kind === 'number');
  if (field !== undefined) return JSON.stringify({ [field.name]: 1 });
  if (featureNames?.[0] !== undefined) return JSON.stringify({ [featureNames[0]]: 1 });
  if (recipe?.hashBits !== undefined) return '{"name":1}';
  return '{"indices":[0],"values":[1]}';
}
