import type { Outcome } from './events.ts';

/**
 * The outcome for clients that do not declare a version of the protocol. Those before 1.0, such as the one in CopilotKit's
 * runtime, fail on outcomes and fields that they do not know.
 */
export function legacyOutcome(outcome: Outcome): { readonly outcome?: Outcome } {
  switch (outcome.type) {
    case 'success':
      return { outcome: { type: 'success' } };
    case 'interrupt':
      return { outcome };
    case 'cancelled':
      return {};
  }
}
