'use strict';
// @node-idempotency/nestjs with its Redis storage, put together as its README shows; the decorators are applied by hand,
// because this is JavaScript.
// node node_idempotency_nestjs.js PORT REDIS_URL

require('reflect-metadata');
const { BadRequestException, Body, Controller, Get, Inject, Module, Post, Res } = require('@nestjs/common');
const { NestFactory } = require('@nestjs/core');
const { Idempotent, NodeIdempotencyModule } = require('@node-idempotency/nestjs');
const { openLedger, isValid, settings } = require('./ledger');

class ChargesController {
  constructor(ledger) {
    this.ledger = ledger;
  }

  async list() {
    return { count: await this.ledger.count() };
  }

  charge(order, response) {
    return this.make('/charges', order, response);
  }

  refund(order, response) {
    return this.make('/refunds', order, response);
  }

  async make(path, order, response) {
    if (!isValid(order)) throw new BadRequestException('amount must be a whole number above 0');
    const made = await this.ledger.charge(order);
    response.setHeader('Location', `${path}/${made.id}`);
    return made;
  }
}

function decorate(method, ...decorators) {
  const descriptor = Object.getOwnPropertyDescriptor(ChargesController.prototype, method);
  for (const decorator of decorators) decorator(ChargesController.prototype, method, descriptor);
}

Inject('LEDGER')(ChargesController, undefined, 0);
Controller()(ChargesController);
decorate('list', Get('charges'));
for (const [method, path] of [['charge', 'charges'], ['refund', 'refunds']]) {
  Body()(ChargesController.prototype, method, 0);
  Res({ passthrough: true })(ChargesController.prototype, method, 1);
  decorate(method, Post(path), Idempotent());
}

async function main() {
  const { port, redisUrl } = settings();
  const ledger = await openLedger(redisUrl);
  class AppModule {}
  Module({
    imports: [NodeIdempotencyModule.forRootAsync({ storage: { adapter: 'redis', options: { url: redisUrl } } })],
    controllers: [ChargesController],
    providers: [{ provide: 'LEDGER', useValue: ledger }],
  })(AppModule);
  const app = await NestFactory.create(AppModule, { logger: ['error'] });
  await app.listen(port, '127.0.0.1');
}

main();
