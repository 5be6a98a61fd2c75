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
