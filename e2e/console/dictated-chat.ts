/** A chat in one tab, with a model that the test dictates. */
import type { Locator, Page } from 'playwright-core';
import { type DictatedModel, dictatedModel } from '../scripted-model.ts';
import { type Console, openConsole, removed, visible } from './console.ts';

export class DictatedChat {
  private constructor(
    readonly model: DictatedModel,
    readonly app: Console,
    readonly page: Page,
  ) {}

  static async open(settings: Record<string, string> = {}): Promise<DictatedChat> {
    const model = dictatedModel();
    const app = await openConsole({ ...model.settings, ...settings });
    return new DictatedChat(model, app, await app.open());
  }

  /** Opens a new session in the same tab. */
  async begin(at = this.app.server.http): Promise<void> {
    await this.page.goto(`${at}/#/`);
    // Until then, the field is that of the session before.
    await visible(this.page.getByRole('heading', { name: 'What can I do for you?' }));
  }

  get field(): Locator {
    return this.page.getByRole('textbox', { name: 'Message' });
  }

  get answers(): Locator {
    return this.page.locator('.row > .markdown');
  }

  answer(text: string): Locator {
    return this.answers.filter({ hasText: text });
  }

  get stopButton(): Locator {
    return this.page.getByRole('button', { name: 'Stop' });
  }

  async send(text: string): Promise<void> {
    await this.field.fill(text);
    await this.page.keyboard.press('Enter');
  }

  /** A turn from its input to its end. */
  async turn(text: string, answer: string): Promise<void> {
    const asked = this.model.asked();
    await this.send(text);
    // An earlier request may still be open if its turn was stopped.
    await asked;
    this.model.say(answer);
    this.model.end();
    await visible(this.answer(answer));
    await removed(this.stopButton);
  }

  async stop(): Promise<void> {
    await this.app.stop();
    this.model.stop();
  }
}
