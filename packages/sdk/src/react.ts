/** `@parlance/sdk/react`: React hooks over the SDK. */
export {
  type AskState,
  ParlanceProvider,
  type SessionsQuery,
  type UseAskResult,
  type UseSessionResult,
  type UseSessionsResult,
  useAsk,
  useParlance,
  useSession,
  useSessions,
} from './react/hooks.ts';
