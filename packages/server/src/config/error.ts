/** A setting is invalid. The message is one line that names the setting, and never contains a secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
