/** Public API of the core. Apart from `core/ports`, the only module that the rest of the server imports. */
export { requirePermission } from '@parlance/protocol';
export { openMemoryBus } from './engine/bus.ts';
export { ClientToolBroker } from './engine/client-tools.ts';
export type { Caller } from './engine/decision-context.ts';
export { createEngine, type Engine } from './engine/engine.ts';
export type { EngineParts } from './engine/engine-internals.ts';
export {
  checkSessions,
  exportedLines,
  type ReadSession,
  readSessions,
  writeSession,
} from './engine/import-export.ts';
export type { LinkedInput } from './engine/links.ts';
export type { SharedSession } from './engine/queries.ts';
export type { SessionFiles } from './engine/session-files.ts';
export type {
  Commit,
  ObservedSession,
  PendingApproval,
  RunStatus,
  SessionSnapshot,
  Sink,
} from './engine/snapshot.ts';
export type { ModelPrice } from './engine/spending.ts';
export type { Watch } from './engine/subscriptions.ts';
export { TextBuffer } from './engine/text-buffer.ts';
export type { StepGate } from './engine/turn-deps.ts';
export type {
  CustomChange,
  CustomContext,
  CustomModules,
  CustomPrompt,
  CustomResource,
} from './ports/custom-modules.ts';
export type { IndexedTurn, TurnState, UsageLabels, UsageRow } from './ports/event-store.ts';
export {
  labelKey,
  type SessionFilter,
  type SessionRecord,
  type SessionRef,
  sessionKey,
  type Webhook,
  type WebhookProgress,
  type WebhookStore,
} from './ports/event-store.ts';
export type { OpenedFile } from './ports/folder-files.ts';
export type { NodeState } from './ports/lease.ts';
export type { McpContents, McpSignIns, SigningIn } from './ports/mcp-servers.ts';
export type { Figures, Log } from './ports/telemetry.ts';
export type { CallPeer, ClientAnswer, ClientProgress, ClientRequest, ToolClient } from './ports/tool.ts';
export { type Agent, AgentCatalog, type Domain, ROLES } from './session/agent-catalog.ts';
export { answerInText, maySee } from './session/approvals.ts';
export { addUsage, awaitsAnswer, type OpenQuestion } from './session/session-state.ts';
export { directCallId } from './session/turn-events.ts';
