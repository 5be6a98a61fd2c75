/** Selects the provider for each model. */
import { Fault } from '@parlance/protocol';
import {
  addressParts,
  type Changeable,
  type Config,
  ConfigError,
  installCommand,
  knownContextLimit,
  type ModelChoice,
  modelsOfChain,
  packageFolders,
  VENDORS,
} from '../config/config.ts';
import { type Provider, StandIn } from '../core/ports/provider.ts';
import type { Log } from '../core/ports/telemetry.ts';
import { anthropic } from '../providers/anthropic.ts';
import { google } from '../providers/google.ts';
import { fetchClient } from '../providers/http/client.ts';
import { socketClient } from '../providers/http/socket-client.ts';
import { type HttpProviderOptions, httpProvider, retried } from '../providers/http-provider.ts';
import { offlineProvider } from '../providers/offline.ts';
import { openaiChat } from '../providers/openai-chat.ts';
import { openaiResponses } from '../providers/openai-responses.ts';
import { DEFAULT_RETRY } from '../providers/retry.ts';
import type { LiveConfig } from './setup/live-config.ts';

/** Of a model that neither the catalogue nor the operator knows. */
const UNKNOWN_CONTEXT_LIMIT = 128_000;

export function openProvider(choice: ModelChoice, config: Config, log: Log): Provider {
  if (choice.provider === 'offline') return offlineProvider({ delayMs: config.offlineDelay });
  const { provider, model, baseUrl, key = '', keyName } = choice;
  const isKeyWithheld = choice.otherKeyAddress !== undefined;
  const options: HttpProviderOptions = {
    name: provider,
    model,
    contextLimit:
      config.contextLimits[`${provider}:${model}`] ??
      config.contextLimits[model] ??
      config.contextLimit ??
      knownContextLimit(choice) ??
      UNKNOWN_CONTEXT_LIMIT,
    idleMs: config.providerIdle,
    retry: DEFAULT_RETRY,
    limits: config,
    http: config.http === 'fetch' ? fetchClient : socketClient,
    log,
  };
  const { label, variables } = VENDORS[provider];
  const vendor = { name: label, variable: variables[0] };
  const reached = { key, keyName, isKeyWithheld, vendor, baseUrl, model };
  switch (choice.api) {
    case 'openai-responses':
      return httpProvider(openaiResponses(reached), options);
    case 'openai-chat':
      return httpProvider(openaiChat(reached), options);
    case 'anthropic':
      return httpProvider(anthropic(reached), options);
    case 'google':
      return httpProvider(google(reached), options);
    case 'ai-sdk': {
      const { package: name = '', address, findsCredentials = false, requestOptions } = VENDORS[provider];
      const isOwnAddress = baseUrl === address;
      const asked = {
        package: name,
        folders: packageFolders(config.data),
        install: installCommand(name, config.data),
        label,
        key,
        keyName,
        isKeyWithheld,
        variable: variables[0],
        baseUrl: isOwnAddress ? undefined : baseUrl,
        findsCredentials,
        missingVariables: isOwnAddress ? addressParts(provider).filter((part) => !process.env[part]) : [],
        model,
        requestOptions,
      };
      return retried(options, async (signal, take) => {
        const { AiSdkAttempt } = await import('../providers/ai-sdk.ts');
        return new AiSdkAttempt(asked, options, signal, take);
      });
    }
  }
}

/** Maximum number of cached providers: sessions may name any model. */
const MAX_OPENED = 100;

/**
 * Providers for agents and sessions with their own model, or with a chain such as `gpt-5.5,claude-opus-4-7`. Throws `invalid` if
 * its first model is not available.
 */
export function providersByModel(config: Config, live: LiveConfig, log: Log): (models: string) => Provider {
  const opened = new Map<string, Provider>();
  live.onChange(() => opened.clear());
  const open = (model: string): Provider => {
    // CONTEXT_LIMIT is about the server's own model: another one has its own size, where that is known.
    const choice = usable(model, () => live.current.modelNamed(model));
    const contextLimit = knownContextLimit(choice) ?? config.contextLimit;
    const { contextLimits } = live.current;
    return openProvider(choice, { ...config, contextLimit, contextLimits }, log);
  };
  const providerFor = (models: string): Provider => {
    const cached = opened.get(models);
    if (cached) return cached;
    const [model, ...rest] = usable(models, () => modelsOfChain(models));
    const provider =
      rest.length === 0
        ? open(model)
        : { ...providerFor(model), fallbacks: fallbacksNamed(rest, providerFor, log) };
    const [oldest] = opened.keys();
    if (opened.size >= MAX_OPENED && oldest !== undefined) opened.delete(oldest);
    opened.set(models, provider);
    return provider;
  };
  return providerFor;
}

/** Models that became unavailable after the start, such as by the removal of a key, are left out. */
export const fallbacksNamed = (
  models: readonly string[],
  providerFor: (model: string) => Provider,
  log: Log,
): Provider[] =>
  models.flatMap((model) => {
    try {
      return [providerFor(model)];
    } catch (thrown) {
      if (!(thrown instanceof Fault)) throw thrown;
      log.warn({ model, reason: thrown.message }, 'fallback model unavailable');
      return [];
    }
  });

function usable<Value>(model: string, read: () => Value): Value {
  try {
    return read();
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    throw new Fault('invalid', `The model ${model} cannot be used: ${thrown.message}.`, { cause: thrown });
  }
}

/** The server's default model: each request uses the one that is configured at that time. */
export function liveProvider(
  config: Config,
  { live, providerFor, log }: { live: LiveConfig; providerFor: (model: string) => Provider; log: Log },
): Provider {
  const open = ({ model, contextLimits, fallbacks }: Changeable): Provider => ({
    ...openProvider(model, { ...config, contextLimits }, log),
    fallbacks: fallbacksNamed(fallbacks, providerFor, log),
  });
  let current = open(live.current);
  live.onChange((changed) => {
    current = open(changed);
  });
  return new StandIn(() => current);
}
