import { Logger } from '@nestjs/common';
import { trace } from '@opentelemetry/api';
import type { BloomGuardRunner } from 'nestjs-bloom';
import {
  type DecidedBy,
  type DecisionListener,
  describeError,
  listenToDecisions,
  withHelp,
} from 'nestjs-bloom/integrations';
import { NAMESPACE } from './attributes.js';
import { spansFailed } from './open-telemetry.messages.js';

const FILTER = `${NAMESPACE}filter`;
const METHOD = `${NAMESPACE}method`;
const VERDICT = `${NAMESPACE}verdict`;
const REASON = `${NAMESPACE}reason`;

/** Notes on the active span what each guarded call was decided by. */
export class SpanMarker {
  private stopListening = () => {};

  /** @param runner of this application, if it has one. */
  constructor(private readonly runner: BloomGuardRunner | undefined) {}

  start(): void {
    this.stopListening = listenToDecisions(this.runner, this.mark);
  }

  stop(): void {
    this.stopListening();
  }

  private readonly mark: DecisionListener = ({ filter, method }, by) => {
    try {
      const span = trace.getActiveSpan();
      if (!span?.isRecording()) return;
      const { verdict, reason } = described(by);
      span.setAttributes({ [FILTER]: filter, [METHOD]: method, [VERDICT]: verdict, [REASON]: reason });
    } catch (error) {
      // A guarded call must not fail over its span.
      this.stop();
      new Logger('Bloom').error(withHelp(spansFailed(describeError(error))));
    }
  };
}

function described(by: DecidedBy): { readonly verdict: string; readonly reason: string } {
  switch (by) {
    case 'absent':
    case 'maybe':
      // Not left out: an earlier call of the same span may have had another one.
      return { verdict: by, reason: 'filter' };
    case 'remembered':
      return { verdict: 'absent', reason: 'negative-cache' };
    default:
      return { verdict: 'unknown', reason: by };
  }
}
