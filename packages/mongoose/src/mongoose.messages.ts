import { printed } from 'nestjs-bloom/sources';

export const notAModel = (got: unknown) =>
  `fromMongoose: expected a model of Mongoose, got ${printed(got)}. Give the class whose name forFeature registers, getModelToken('Item'), or the ` +
  'model itself.';

export const noModelNamed = (got: unknown) =>
  `fromMongoose: expected a class, the token of a model or a model, got ${printed(got)}.`;

export const noSuchPath = (maker: string, model: string, path: string, paths: string) =>
  `${maker}: expected a path of the model ${model}, got '${path}'. Its paths are ${paths}.`;

export const cannotBeIds = (maker: string, model: string, path: string, kind: string) =>
  `${maker}: expected a path of the model ${model} whose values can be ids, got '${path}', which is of the type ${kind}. Name a path of text, numbers, ` +
  'ObjectIds, UUIDs or bytes.';

export const severalValues = (maker: string, model: string, path: string, around: string, kind: string) =>
  `${maker}: expected a path of the model ${model} that has one value in a document, got '${path}', where ${around} is of the type ${kind}. Read such ids with ` +
  'fromPages of nestjs-bloom, and record them by @BloomRegisters or filter.add(id).';

export const noPlugin = (option: string, expected: string, got: unknown) =>
  `bloomMongoosePlugin: expected the option ${option} to be ${expected}, got ${printed(got)}. Write ` +
  "schema.plugin(bloomMongoosePlugin, { runner, path: '_id', filter: 'items' }), where runner is the BloomGuardRunner that Nest injects.";

export const idNotKnown = (filter: string, path: string, why: string, instead: string) =>
  `bloomMongoosePlugin cannot record the id of a document in filter '${filter}': ${path} is not known, since ${why}. Instead ${instead}, or write past ` +
  'Mongoose and call filter.add(id).';

export const notMadeInOrder = (model: string, path: string, type: string) =>
  `${model}.${path} is of type ${type}; of Mongoose, ObjectIds in _id alone are known to be made in order, where the schema leaves _id out or sets auto`;

export const nanAsKey = (model: string) =>
  `fromMongoose: a document of the model ${model} has the _id NaN, after which MongoDB finds no other number. Remove that document.`;
