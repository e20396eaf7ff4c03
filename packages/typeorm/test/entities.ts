import {
  ChildEntity,
  Column,
  DeleteDateColumn,
  Entity,
  Index,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  TableInheritance,
  ViewColumn,
  ViewEntity,
} from 'typeorm';

@Entity('products')
export class Product {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Column({ type: 'text', unique: true })
  sku!: string;

  @Column({ type: 'bigint', unique: true })
  no!: string;

  @Column({ type: 'citext', nullable: true })
  @Index({ unique: true })
  code!: string | null;

  @Column({ type: 'char', length: 10 })
  shelf!: string;

  @Column({ type: 'numeric', nullable: true })
  price!: string | null;

  @Column({
    type: 'text',
    nullable: true,
    transformer: { to: (text) => text?.slice(2), from: (text) => text && `X-${text}` },
  })
  label!: string | null;

  @DeleteDateColumn()
  deletedAt!: Date | null;
}

@Entity('orders')
export class Order {
  @PrimaryGeneratedColumn()
  no!: number;
}

@Entity('visits', { schema: 'shop' })
export class Visit {
  @PrimaryColumn({ type: 'timestamptz', precision: 6 })
  at!: Date;

  @PrimaryColumn({ name: 'visit_no' })
  no!: number;

  @Column({ name: 'visitor_key' })
  visitor!: string;
}

@Entity('media')
@TableInheritance({ column: { type: 'varchar', name: 'kind' } })
export class Medium {
  @PrimaryColumn({ type: 'text' })
  id!: string;
}

@ChildEntity()
export class Film extends Medium {}

@ViewEntity('shelves', { expression: 'select shelf from products' })
export class Shelf {
  @ViewColumn()
  shelf!: string;
}

@ViewEntity('marks', { expression: `select unnest(array['a', 'A', 'B']::citext[]) as code` })
export class Mark {
  @ViewColumn()
  code!: string;
}

/** A table without the key that the entity names, as a view of several tables is. */
@Entity('loose', { synchronize: false })
export class Loose {
  @PrimaryColumn({ type: 'text' })
  kind!: string;

  @Column({ type: 'text' })
  label!: string;
}
