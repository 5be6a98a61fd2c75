/** What the storage of the extension holds: the connection, permissions of sites, tasks, questions and the use of tools. */
import type { SensitiveReason } from '../messages.ts';

/** Sites that are not listed ask. */
type SitePermission = 'allow' | 'never';
/** What a person chooses for a site. */
export type SiteChoice = SitePermission | 'ask';
export type SitePermissions = Readonly<Record<string, SitePermission>>;

/** How this extension is connected to a server. */
export type Connection =
  /** `isNew`: just installed, so that the panel shows a code at once if the server runs */
  | { readonly status: 'none'; readonly url: string; readonly isNew?: true }
  /** the code waits to be allowed; the token is not valid yet */
  | {
      readonly status: 'waiting';
      readonly url: string;
      readonly code: string;
      readonly token: string;
      readonly expiresAt: string;
    }
  | { readonly status: 'paired'; readonly url: string; readonly token: string; readonly owner: string }
  /** it was paired, and the server refuses its token now */
  | { readonly status: 'revoked'; readonly url: string };

export type Paired = Extract<Connection, { status: 'paired' }>;

const LOOPBACK = ['localhost', '127.0.0.1'];

/** The origin of a server that a person typed; null if it cannot be used: other machines need TLS. */
export function serverOrigin(text: string): string | null {
  const url = URL.parse(/^\w+:\/\//.test(text.trim()) ? text.trim() : `http://${text.trim()}`);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return null;
  return url.protocol === 'https:' || LOOPBACK.includes(url.hostname) ? url.origin : null;
}

// A task as the worker keeps it. Every state is stored before anything is done, so that a worker that was suspended continues
// where it was and does nothing twice.

export type TaskRecord = {
  /** idempotency key of the first call */
  readonly id: string;
  readonly session: string;
  readonly tab: number;
  /** tabs that the task has opened */
  readonly opened: readonly number[];
  /** sites that were allowed for this task */
  readonly allowed: readonly string[];
  readonly query: string;
  /** of the server; null until the first call was answered */
  readonly taskId: string | null;
  /** number of actions that the server has sent */
  readonly actionCount: number;
  readonly plan: ContractPlan | null;
  readonly state: TaskState;
  /** why the server cannot be reached now */
  readonly problem: string | null;
};

/** What is sent about the last action: part of the body of `/api/agent/interact`. */
export type Report = Readonly<Record<string, unknown>>;

export type TaskState =
  /** to be sent: the first call, or a reply to a question */
  | { readonly phase: 'asking-server'; readonly reply: string | null }
  /** `begun`: it may have been carried out */
  | { readonly phase: 'acting'; readonly action: string; readonly thought: string; readonly begun: boolean }
  /** the action is done: what came of it is to be sent */
  | { readonly phase: 'reporting'; readonly action: string; readonly report: Report }
  /** the server needs an answer of the person */
  | { readonly phase: 'question'; readonly question: string; readonly missing: readonly string[] }
  | { readonly phase: 'ended'; readonly outcome: TaskOutcome; readonly message: string };

export type TaskOutcome = 'completed' | 'failed' | 'stopped';

export const isRunning = ({ state }: TaskRecord): boolean => state.phase !== 'ended';

/** The response of `/api/agent/interact`, as far as the extension uses it. */
type ContractPlan = {
  readonly steps: readonly {
    readonly id: string;
    readonly description: string;
    readonly status: 'pending' | 'active' | 'completed' | 'failed';
  }[];
  readonly currentStepIndex: number;
};

export type InteractResponse = {
  readonly thought?: string;
  readonly action?: string;
  readonly taskId?: string;
  readonly sessionId?: string;
  readonly status?: string;
  readonly plan?: ContractPlan;
  readonly userQuestion?: string;
  readonly missingInformation?: readonly string[];
  readonly metrics?: { readonly actionCount?: number };
};

// Questions of the extension itself, which the panel shows and a person answers.

export type SiteAnswer = 'once' | 'always' | 'never';
export type ActionAnswer = 'allow' | 'deny';

type AskBase = {
  /** the same question has the same id, also after the worker was suspended */
  readonly id: string;
  readonly tab: number;
  /** the origin that it is about */
  readonly site: string;
  /** the session of the task; null for browser tools of other clients */
  readonly session: string | null;
  readonly at: number;
};

export type SiteAsk = AskBase & {
  readonly kind: 'site';
  /** what would be done there */
  readonly purpose: string;
  readonly answer: SiteAnswer | null;
};

export type ActionAsk = AskBase & {
  readonly kind: 'action';
  readonly reasons: readonly SensitiveReason[];
  readonly description: string;
  readonly destination: string | null;
  readonly answer: ActionAnswer | null;
};

export type Ask = SiteAsk | ActionAsk;

export const REASONS: Readonly<Record<SensitiveReason, string>> = {
  payment: 'It submits a form that looks like a payment.',
  download: 'It downloads a file.',
  upload: 'It uploads a file.',
  'other-origin': 'It leads to another site.',
  evaluate: 'It runs code in the page.',
  'stored-data': 'It reads data that the site has stored in your browser.',
};

/** A browser tool that an agent in another client has called. */
export type ToolUse = {
  readonly id: string;
  readonly tool: string;
  readonly description: string;
  readonly site: string | null;
  readonly tab: number | null;
  readonly at: number;
  readonly state: 'asking' | 'running' | 'done' | 'failed';
  readonly message?: string;
};
