/** A setting is wrong. The message is one line that names the setting; it never contains a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
