/** The response of `/api/agent/interact`, as far as the extension uses it. */
export type ContractPlan = {
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
