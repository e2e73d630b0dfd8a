import type { BlockHolders } from '../../../../src/apps/dashboard/api.ts';
import type { CurrentRun } from '../../../../src/apps/dashboard/feeds.ts';
import { RunView } from '../../../../src/reporting/records/run-view.ts';
import { startLine } from './records.ts';

/** The run of this process, driven by the test. */
export class DrivenRun implements CurrentRun {
  readonly live: RunView;
  current: BlockHolders | undefined;
  /** How often somebody has looked, and asked it to stop. */
  looks = 0;
  stops = 0;
  listeners = 0;

  constructor(id: string) {
    this.live = RunView.live(startLine(id));
  }

  get id(): string {
    return this.live.id;
  }

  summary() {
    return this.live.summary();
  }

  detail(query: Parameters<CurrentRun['detail']>[0]) {
    return this.live.detail(query);
  }

  subscribe(listener: Parameters<CurrentRun['subscribe']>[0]) {
    this.listeners++;
    const end = this.live.subscribe(listener);
    return () => {
      this.listeners--;
      end();
    };
  }

  look(): BlockHolders | undefined {
    this.looks++;
    return this.current;
  }

  stop(): void {
    this.stops++;
  }
}
