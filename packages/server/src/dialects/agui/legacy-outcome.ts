import type { Outcome } from './events.ts';

/**
 * The outcome for clients that do not declare a protocol version. Versions before 1.0, such as the one in
 * CopilotKit's runtime, fail on unknown outcomes and fields.
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
