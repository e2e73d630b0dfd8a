import type { Command } from 'commander';

const options = `
Options, each with its value as the next word, all in front of the files:
  -s type        1 by default
                   0, 7       L2-regularized logistic regression
                   1, 2       L2-regularized L2-loss (squared hinge) SVM
                   3          L2-regularized L1-loss (hinge) SVM
                   5          L1-regularized L2-loss SVM
                   6          L1-regularized logistic regression
                   11, 12     L2-regularized L2-loss support vector regression
                   13         L2-regularized L1-loss support vector regression
  -c cost        C, which multiplies the losses (default: 1)
  -p epsilon     insensitive zone of support vector regression (default: 0.1)
  -e epsilon     when to stop, in LIBLINEAR's terms (default: by type, as there)
  -B bias        one more feature of this value in every row; none below 0 (default: -1)
  -R             its weight is not penalised; with -B 1 and -s 0, 2, 5, 6, 11
  -wi weight     factor of C for the rows with label i: -w1 5 -w-1 0.5
  -v n           cross validation with n folds, and no model
  -m threads     worker threads (default: all cores)
  -q             print nothing

Types 4 and 21, -C and -M are refused, with the reason.

Example:
  dso liblinear-train -s 0 -c 4 -B 1 train.svm train.liblinear
  liblinear-predict test.svm train.liblinear predictions`;

/** `dso liblinear-train`; `run` gets the words as they are, whose syntax commander does not know. */
export function defineLiblinearTrain(
  program: Command,
  run: (words: readonly string[]) => Promise<void>,
): void {
  program
    .command('liblinear-train')
    .summary('train with the options and the model file of LIBLINEAR')
    .description(
      'Train as liblinear-train does: its options, its problems, its model file. What is solved is ' +
        'proved to be within a duality gap of the optimum.',
    )
    .usage('[options] training_set_file [model_file]')
    .argument('[words...]', 'LIBLINEAR options, the training set, the model')
    .helpOption('--help', 'show help')
    .allowUnknownOption()
    .addHelpText('after', options)
    .action((words: readonly string[]) => run(words));
}
