import type { Look } from '../../../../src/apps/dashboard/api.ts';
import type { OwnRun } from '../../../../src/dashboard/own-run.ts';
import { LiveRun } from '../../../../src/runs/live-run.ts';
import { startLine } from './records.ts';

/** The run of this process, driven by the test. */
export class DrivenRun implements OwnRun {
  readonly live: LiveRun;
  current: Look | undefined;
  /** How often somebody has looked, and asked it to stop. */
  looks = 0;
  stops = 0;
  listeners = 0;

  constructor(id: string) {
    this.live = new LiveRun(startLine(id));
  }

  get id(): string {
    return this.live.id;
  }

  summary() {
    return this.live.summary();
  }

  detail(query: Parameters<OwnRun['detail']>[0]) {
    return this.live.detail(query);
  }

  subscribe(listener: Parameters<OwnRun['subscribe']>[0]) {
    this.listeners++;
    const end = this.live.subscribe(listener);
    return () => {
      this.listeners--;
      end();
    };
  }

  look(): Look | undefined {
    this.looks++;
    return this.current;
  }

  stop(): void {
    this.stops++;
  }
}
