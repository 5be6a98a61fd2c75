/** A setting is wrong. The message is one line that names it; it never holds a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
