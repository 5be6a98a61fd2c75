/** `@parlance/sdk/react`: React hooks over the SDK. */
export { ParlanceProvider, useParlance } from './react/context.ts';
export { type AskState, type UseAskResult, useAsk } from './react/use-ask.ts';
export { type UseSessionResult, useSession } from './react/use-session.ts';
export {
  type SessionsQuery,
  type UseSessionsResult,
  useSessions,
} from './react/use-sessions.ts';
