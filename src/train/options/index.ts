/** The options of the command line that the library has as well, by their names there. */
import { threadsOption } from './data.ts';
import { libraryNameOf, type OptionTable, pick } from './option.ts';
import { preparationOptions, problemOptions } from './problem.ts';
import {
  earlyStopOption,
  memoryOptions,
  stoppingOptions,
  testOptions,
  trainOnlyOptions,
} from './run.ts';
import { solverOptions } from './solver.ts';

export const libraryOptions = {
  ...problemOptions,
  ...preparationOptions,
  ...testOptions,
  ...stoppingOptions,
  ...earlyStopOption,
  ...memoryOptions,
  ...solverOptions,
  ...threadsOption,
  ...pick(trainOnlyOptions, 'resume'),
};

/** The same entries by the name that the library has for them. */
export const byLibraryName: OptionTable = Object.fromEntries(
  Object.entries(libraryOptions).flatMap(([name, entry]) => {
    const library = libraryNameOf(name, entry);
    return library === undefined ? [] : [[library, entry]];
  }),
);
