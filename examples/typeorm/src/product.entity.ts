import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity('products')
export class Product {
  @PrimaryGeneratedColumn() id!: number;
  @Column('text', { unique: true }) sku!: string;
  @Column('text') name!: string;
}
