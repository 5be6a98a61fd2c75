/** The composition of providers: which wire answers for which model. */
import { type Config, contextLimitOf, type ModelChoice } from './config.ts';
import type { Log } from './core/ports/log.ts';
import type { Provider } from './core/ports/provider.ts';
import { anthropic } from './providers/anthropic.ts';
import { google } from './providers/google.ts';
import { type HttpProviderOptions, httpProvider } from './providers/http-provider.ts';
import { offlineProvider } from './providers/offline/provider.ts';
import { openaiChat } from './providers/openai-chat.ts';
import { openaiResponses } from './providers/openai-responses.ts';
import { DEFAULT_RETRY } from './providers/retry.ts';

export function openProvider(choice: ModelChoice, config: Config, log: Log): Provider {
  if (choice.provider === 'offline') return offlineProvider({ delayMs: config.offlineDelay });
  const { provider, model, baseUrl, key = '' } = choice;
  const options: HttpProviderOptions = {
    name: provider,
    model,
    contextLimit: config.contextLimit ?? contextLimitOf(model),
    idleMs: config.providerIdle,
    retry: DEFAULT_RETRY,
    log,
  };
  const reached = { key, baseUrl, model };
  switch (provider) {
    case 'openai':
      return choice.api === 'chat'
        ? httpProvider(openaiChat(reached), options)
        : httpProvider(openaiResponses(reached), options);
    case 'anthropic':
      return httpProvider(anthropic(reached), options);
    case 'google':
      return httpProvider(google(reached), options);
  }
}

/** Providers for agents that name a model of their own, each opened once. */
export function providersByModel(config: Config, log: Log): (model: string) => Provider {
  const opened = new Map<string, Provider>();
  return (model) => {
    const known = opened.get(model) ?? openProvider(config.modelNamed(model), config, log);
    opened.set(model, known);
    return known;
  };
}
