import { Column, Entity, PrimaryGeneratedColumn } from 'typeorm';

@Entity()
export class Product {
  @PrimaryGeneratedColumn() id!: number;
  @Column({ unique: true }) sku!: string;
  @Column() name!: string;
}
