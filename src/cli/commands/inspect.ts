import { readModel } from '../../model/file.ts';
import { summarizeWeights } from '../../model/metrics/weight-summary.ts';
import type { Model } from '../../model/model.ts';
import { vectorCount } from '../../model/model.ts';
import {
  describeAllFeatures,
  describeClasses,
  describeFeatures,
  describeModel,
} from '../../reporting/text/model.ts';
import type { InspectFlags } from '../definitions/inspect.ts';
import { exitCodes } from '../exit-codes.ts';
import type { ClassPlace, FeatureOptions } from '../inspection.ts';
import { findClass, sharesVector, summarizeVector, topFeatures } from '../inspection.ts';
import { checkStandardInput } from '../outputs.ts';
import type { Terminal } from '../terminal.ts';
import { readLines } from '../text-file.ts';

export async function inspectCommand(
  path: string,
  flags: InspectFlags,
  terminal: Terminal,
): Promise<number> {
  checkStandardInput([path, flags.names]);
  const model = await readModel(path);
  const place = flags.class === undefined ? undefined : findClass(model, flags.class);
  const options: FeatureOptions = {
    top: flags.top,
    names: flags.names === undefined ? (model.featureNames ?? []) : await readLines(flags.names),
    firstFeature: flags.zeroBased ? 0 : 1,
  };
  const text = flags.json
    ? JSON.stringify(inspection(model, place, options))
    : describe(model, place, options, terminal);
  await terminal.print(`${text}\n`);
  return exitCodes.done;
}

/** Everything about the model but its single weights, of which the largest are told. */
function inspection(model: Model, place: ClassPlace | undefined, options: FeatureOptions): object {
  const { weights, featureNames: _names, intercepts: _intercepts, ...description } = model;
  const all = Array.from({ length: vectorCount(model) }, (_, vector) => vector);
  const vectors = all
    .filter((vector) => place === undefined || vector === place.vector)
    .map((vector) => ({
      ...summarizeVector(model, vector),
      positive: topFeatures(model, vector, 'positive', options),
      negative: topFeatures(model, vector, 'negative', options),
    }));
  return { ...description, weights: summarizeWeights(weights), vectors };
}

function describe(
  model: Model,
  place: ClassPlace | undefined,
  options: FeatureOptions,
  terminal: Terminal,
): string {
  const parts =
    sharesVector(model) || place
      ? [describeModel(model), describeFeatures(model, place, options, terminal.outputColours)]
      : [describeModel(model), describeClasses(model), describeAllFeatures(model, options)];
  return parts.filter((part) => part !== '').join('\n\n');
}
