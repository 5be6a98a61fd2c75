import type { Usage } from '@parlance/protocol';

export const addUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cachedTokens: (a.cachedTokens ?? 0) + (b.cachedTokens ?? 0) || undefined,
  reasoningTokens: (a.reasoningTokens ?? 0) + (b.reasoningTokens ?? 0) || undefined,
});
