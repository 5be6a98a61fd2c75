/** A chat in one tab, with a model that the test dictates. */
import type { Locator, Page } from 'playwright-core';
import { type DictatedModel, dictatedModel } from '../dictated-model.ts';
import { type Console, gone, openConsole, seen } from './console.ts';

export class DictatedChat {
  private constructor(
    readonly model: DictatedModel,
    readonly place: Console,
    readonly page: Page,
  ) {}

  static async open(): Promise<DictatedChat> {
    const model = dictatedModel();
    const place = await openConsole(model.settings);
    return new DictatedChat(model, place, await place.open());
  }

  /** Opens a new session in the same tab. */
  async begin(at = this.place.server.http): Promise<void> {
    await this.page.goto(`${at}/#/`);
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
    await this.send(text);
    this.model.say(answer);
    this.model.end();
    await seen(this.answer(answer));
    await gone(this.stopButton);
  }

  async stop(): Promise<void> {
    await this.place.stop();
    this.model.stop();
  }
}
