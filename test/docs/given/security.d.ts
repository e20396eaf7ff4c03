// What docs/security.md leaves out.
declare const Body: typeof import('@nestjs/common').Body;
declare const Controller: typeof import('@nestjs/common').Controller;
declare const Post: typeof import('@nestjs/common').Post;
declare const UseGuards: typeof import('@nestjs/common').UseGuards;
declare const ValidationPipe: typeof import('@nestjs/common').ValidationPipe;
declare const ThrottlerGuard: typeof import('@nestjs/throttler').ThrottlerGuard;

type CanActivate = import('@nestjs/common').CanActivate;
declare class SignedIn implements CanActivate {
  canActivate(): boolean;
}
declare class MayCreate implements CanActivate {
  canActivate(): boolean;
}
declare class NewProduct {
  readonly sku: string;
}
declare class Product {
  readonly sku: string;
}
declare class ProductRepository {
  create(product: NewProduct): Promise<Product>;
  isTaken(sku: string): Promise<boolean>;
}
declare const BloomRegisters: typeof import('nestjs-bloom').BloomRegisters;
declare const ConflictException: typeof import('@nestjs/common').ConflictException;
