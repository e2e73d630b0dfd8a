import { hostname } from 'node:os';
import { Recorder } from '../../../../../src/reporting/records/recorder.ts';
import { beginLine, epochLine, runId, startLine } from '../../../../support/run-lines.ts';

/*
 * A process that records a run: record-run.ts FOLDER HOW, where HOW is
 *   exit    ten epochs, then it ends without closing the record;
 *   stay    ten epochs, then it waits to be killed, or to be asked to stop;
 *   append  an epoch at every turn until it is killed.
 * It prints the name of the run when the record is there.
 */
const [folder, how] = process.argv.slice(2);
const start = startLine({ id: runId(), pid: process.pid, host: hostname() });
const recorder = new Recorder({
  folder,
  start,
  onFailure: (message) => process.stderr.write(`${message}\n`),
});
recorder.write(beginLine());
for (let epoch = 1; epoch <= 10; epoch++) recorder.write(epochLine(epoch));
process.stdout.write(`${start.id}\n`);

if (how === 'exit') process.exit(0);
if (how === 'stay') {
  const life = setInterval(() => {}, 1000);
  recorder.watchStop(() => {
    recorder.write({ event: 'result', ended: new Date().toISOString(), code: 0, model: 'm' });
    recorder.close();
    clearInterval(life);
  });
}
if (how === 'append') {
  let epoch = 10;
  setInterval(() => {
    for (let k = 0; k < 200; k++) recorder.write(epochLine(++epoch));
  }, 1);
}
