/** `@parlance/sdk/react`: React hooks over the SDK. */
export { ParlanceProvider, useParlance } from './react/context.ts';
export { type AskState, type UsedAsk, useAsk } from './react/use-ask.ts';
export { type UsedSession, useSession } from './react/use-session.ts';
export { type SessionsQuery, type UsedSessions, useSessions } from './react/use-sessions.ts';
