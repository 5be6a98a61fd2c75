/** `@parlance/sdk/react`: React hooks over the SDK. */
export { ParlanceProvider, useParlance } from './react/context.ts';
export { type AskState, type UseAskResult as UsedAsk, useAsk } from './react/use-ask.ts';
export { type UseSessionResult as UsedSession, useSession } from './react/use-session.ts';
export {
  type SessionsQuery,
  type UseSessionsResult as UsedSessions,
  useSessions,
} from './react/use-sessions.ts';
