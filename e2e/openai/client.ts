/** The official client against a test server. */
import OpenAI from 'openai';

export type ClientOptions = {
  readonly key?: string;
  readonly session?: string;
  readonly base?: string;
  readonly maxRetries?: number;
};

export const openaiClient = (http: string, options: ClientOptions = {}): OpenAI =>
  new OpenAI({
    baseURL: `${http}${options.base ?? '/openai/v1'}`,
    apiKey: options.key ?? 'any word',
    maxRetries: options.maxRetries ?? 0,
    defaultHeaders: options.session === undefined ? {} : { 'X-Parlance-Session': options.session },
  });

/** The client's promises are lazy, which matchers for rejections do not support. */
export const failure = (asked: PromiseLike<unknown>): PromiseLike<unknown> =>
  asked.then(
    () => null,
    (error: unknown) => error,
  );

export const sessionOf = (response: Response): string => response.headers.get('x-parlance-session') ?? '';
